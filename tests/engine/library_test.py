#!/usr/bin/env python3
"""The engine as others get it: what the libraries hold and ask for, the example in C, a project of its own.

Environment: BUILD (build folder), MAKE_TEST_BUNDLE, SERVE (the example), ORDERS (tests/engine/orders.c), CMAKE, SANITIZED ("" or the sanitizers)."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD"])
LIBRARY = BUILD / "libfoxhunt_engine.so"
SANITIZED = bool(os.environ.get("SANITIZED"))
FORBIDDEN = re.compile(r"torch|c10|python|cuda|nccl", re.I)


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command} gave {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def needed(program):
    """The lines of ldd."""
    lines = run("ldd", program).splitlines()
    assert any("libc.so" in line for line in lines), lines
    assert not any("not found" in line for line in lines), lines
    return lines


def names(lines):
    """What is asked for, without where it was found: a folder may be called anything."""
    return [os.path.basename(line.split("=>")[0].split("(")[0].strip()) for line in lines]


class Engine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp())
        run(os.environ["MAKE_TEST_BUNDLE"], cls.dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def serve(self, program, model=None):
        with open(self.dir / "bars.csv") as bars:
            return subprocess.run([str(program), str(model or self.dir / "model.fox")], stdin=bars,
                                  capture_output=True, text=True)

    def check_answers(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rows verified", done.stderr)
        want = (self.dir / "answers.csv").read_text().splitlines()
        times = [line.split(",")[0] for line in (self.dir / "bars.csv").read_text().splitlines()[1:]]
        got = done.stdout.splitlines()
        self.assertEqual(len(got), len(want))
        ready = 0
        for time, line, expected in zip(times, got, want):
            status, *outputs = expected.split(",")
            ready += status == "ready"
            self.assertEqual(line, ",".join([time, status, *(outputs if status == "ready" else [])]))
        self.assertGreater(ready, 100)

    def test_only_the_c_interface_is_exported(self):
        exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        self.assertEqual([n for n in exported if not n.startswith("foxhunt_")], [])
        header = (ROOT / "foxhunt/engine/foxhunt.h").read_text()
        declared = set(re.findall(r"^FOXHUNT_API [^;(]*?\b(foxhunt_\w+)\(", header, re.M))
        self.assertGreater(len(declared), 20)
        self.assertEqual(declared, set(exported))

    def test_the_library_has_a_version_in_its_name(self):
        self.assertRegex(run("readelf", "-d", LIBRARY), r"SONAME.*\[libfoxhunt_engine\.so\.0\]")

    def test_no_torch_and_no_python_is_asked_for(self):
        for program in LIBRARY, os.environ["SERVE"]:
            self.assertEqual([n for n in names(needed(program)) if FORBIDDEN.search(n)], [], program)
        self.assertIn("libfoxhunt_engine.so.0", names(needed(os.environ["SERVE"])))

    def test_the_header_is_c99_and_cpp(self):
        program = "#include <foxhunt.h>\nint main(void) { return foxhunt_abi_version() == 1 ? 0 : 1; }\n"
        for compiler, language, standard in ("cc", "c", "c99"), ("c++", "c++", "c++11"):
            run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                "-x", language, "-", "-I", BUILD / "include", input=program)

    def test_the_example_answers_as_the_engine_does(self):
        self.check_answers(self.serve(os.environ["SERVE"]))

    def test_order_events_are_answered_in_c99_as_the_engine_does(self):
        folder = self.dir / "orders"
        with open(folder / "orders.csv") as orders:
            done = subprocess.run([os.environ["ORDERS"], str(folder / "model.fox")], stdin=orders, capture_output=True,
                                  text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        want = (folder / "answers.csv").read_text().splitlines()
        times = [line.split(",")[1] for line in (folder / "orders.csv").read_text().splitlines()[1:]]
        got = done.stdout.splitlines()
        self.assertEqual(len(got), len(want))
        seen = {}
        for time, line, expected in zip(times, got, want):
            status, *outputs = expected.split(",")
            seen[status] = seen.get(status, 0) + 1
            self.assertEqual(line, ",".join([time, status, *(outputs if status == "ready" else [])]))
        self.assertEqual(set(seen), {"ready", "warming up", "closed", "bad record", "no sample"})
        self.assertGreater(seen["ready"], 150)
        self.assertGreater(seen["no sample"], 1000)

    def test_the_program_for_orders_says_that_a_model_takes_bars(self):
        done = subprocess.run([os.environ["ORDERS"], str(self.dir / "model.fox")], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("takes bars", done.stderr)

    def test_the_example_refuses_a_model_with_a_changed_bit(self):
        data = bytearray((self.dir / "model.fox").read_bytes())
        data[len(data) // 2] ^= 4
        bad = self.dir / "bad.fox"
        bad.write_bytes(data)
        done = self.serve(os.environ["SERVE"], bad)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("bad bytes", done.stderr)

    @unittest.skipIf(SANITIZED, "a consumer is built without sanitizers")
    def test_a_project_of_its_own_finds_and_uses_the_package(self):
        prefix, tree = self.dir / "prefix", self.dir / "consumer"
        cmake = os.environ["CMAKE"]
        run(cmake, "--install", BUILD, "--prefix", prefix, "--component", "engine")
        named = [p for p in prefix.rglob("*") if p.suffix in {".h", ".cmake"} and str(ROOT) in p.read_text()]
        self.assertEqual(named, [], "an installed file names the source tree")
        run(cmake, "-S", ROOT / "tests/engine/consumer", "-B", tree, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DSERVE_C={ROOT / 'examples/serve.c'}")
        run(cmake, "--build", tree)
        self.check_answers(self.serve(tree / "consumer_shared"))
        self.assertTrue(any(str(prefix) in line for line in needed(tree / "consumer_shared")))
        self.check_answers(self.serve(tree / "consumer_static"))
        asked = names(needed(tree / "consumer_static"))
        self.assertEqual([n for n in asked if FORBIDDEN.search(n) or "foxhunt" in n], [])

    @unittest.skipIf(SANITIZED, "a consumer is built without sanitizers")
    def test_the_snippets_of_the_documentation_build_and_run(self):
        page = (ROOT / "docs/engine.md").read_text()
        snippets = dict(re.findall(r"^```(c|cmake)\n(.*?)^```", page, re.M | re.S))
        self.assertEqual(page.count("```c\n") + page.count("```cmake\n"), len(snippets))
        source, tree, prefix = self.dir / "mine", self.dir / "mine-build", self.dir / "mine-prefix"
        source.mkdir()
        (source / "mine.c").write_text(snippets["c"])
        (source / "CMakeLists.txt").write_text(snippets["cmake"])
        cmake = os.environ["CMAKE"]
        run(cmake, "--install", BUILD, "--prefix", prefix, "--component", "engine")
        run(cmake, "-S", source, "-B", tree, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
        run(cmake, "--build", tree)
        self.assertEqual(run(tree / "mine", self.dir / "model.fox"), "ES warming up\n")


if __name__ == "__main__":
    unittest.main()
