#!/usr/bin/env python3
"""tools/check_rooms.py finds planted breaches of every rule, each by file and line."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class PlantedBreaches(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp())
        shutil.copytree(ROOT / "foxhunt", self.tree / "foxhunt")
        shutil.copy(ROOT / "ARCHITECTURE.md", self.tree)

    def tearDown(self):
        shutil.rmtree(self.tree)

    def check(self):
        run = subprocess.run([sys.executable, ROOT / "tools/check_rooms.py", self.tree], capture_output=True, text=True)
        return run.returncode, run.stdout

    def test_the_tree_itself_is_clean(self):
        self.assertEqual(self.check()[0], 0, self.check()[1])

    def test_an_upward_include_is_named(self):
        (self.tree / "foxhunt/market/zz.cpp").write_text('#pragma once\n#include "foxhunt/features/pipeline.h"\n')
        code, text = self.check()
        self.assertEqual((code, text.strip()), (1, "foxhunt/market/zz.cpp:2: market may not include features"))

    def test_torch_in_a_torch_free_room_is_named(self):
        (self.tree / "foxhunt/kernels/zz.cpp").write_text("#include <ATen/ATen.h>\n")
        self.assertIn("foxhunt/kernels/zz.cpp:1: kernels may not include torch", self.check()[1])

    def test_torch_through_another_rooms_header_is_named(self):
        (self.tree / "foxhunt/nn/zz.h").write_text("#include <ATen/core/Tensor.h>\n")
        (self.tree / "foxhunt/app/zz.cpp").write_text('#include "foxhunt/nn/zz.h"\n')
        self.assertIn("app may not include torch, which it reaches through foxhunt/nn/zz.h", self.check()[1])

    def test_json_past_the_header_that_compiles_it_once_is_named(self):
        (self.tree / "foxhunt/app/zz.cpp").write_text("#pragma once\n#include <nlohmann/json.hpp>\n")
        self.assertIn("foxhunt/app/zz.cpp:2: include foxhunt/base/json.h instead", self.check()[1])

    def test_a_cmake_arrow_that_the_table_lacks_is_named(self):
        (self.tree / "foxhunt/market/CMakeLists.txt").write_text("fx_room(market\n  USES base nn\n  SOURCES a.cpp)\n")
        self.assertIn("foxhunt/market/CMakeLists.txt:1: USES ['base', 'nn']", self.check()[1])

    def test_a_file_over_its_budget_is_named_unless_it_says_why(self):
        path = self.tree / "foxhunt/base/zz.h"
        path.write_text("\n" * 151)
        self.assertIn("foxhunt/base/zz.h:151: 151 lines, the budget is 150", self.check()[1])
        path.write_text("// Over budget: one table of the format's fields.\n" + "\n" * 151)
        self.assertEqual(self.check()[0], 0)


if __name__ == "__main__":
    unittest.main()
