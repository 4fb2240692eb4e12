#!/usr/bin/env python3
"""`bench step` as a program: its JSON, what it writes, how it refuses. BENCH_STEP is the command in front of `step`."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["BENCH_STEP"].split()
BRIEF = ["--seconds", "0.02", "--warm", "0.02", "--control", "0.02", "--floor", "0.02", "--gaps", "20", "--sessions", "4", "--loads", "2"]
FIELDS = {"model": str, "parameters": int, "weights": str, "kernels": str, "schedule": str, "p10_us": float, "p50_us": float,
          "p99_us": float, "floor_us": float, "bytes_per_step": int, "stalls_per_s": float, "allocations": int, "syscalls": int}


def run(*arguments, code=0):
    done = subprocess.run([*COMMAND, "step", *map(str, arguments)], capture_output=True, text=True, timeout=240)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}\n{done.stderr}\n{done.stdout}")
    return done


def latency_of(path):
    data = path.read_bytes()
    header = json.loads(data[8: 8 + struct.unpack("<Q", data[:8])[0]])
    return header["__metadata__"].get("foxhunt.latency")


class BenchStep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "a.fox"
        cls.report = json.loads(run("--preset", "default_hft", "--save", cls.path, "--weights", "all", "-q", "--json", *BRIEF).stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_rows_hold_the_fields_that_programs_read(self):
        rows = self.report["rows"]
        self.assertEqual(len(rows), 4 * 3 * 3)
        self.assertEqual({row["weights"] for row in rows}, {"fp32", "fp16", "bf16", "int8"})
        for row in rows:
            for field, kind in FIELDS.items():
                # What the machine's stalls or this platform forbid is null and says why.
                if row[field] is None:
                    self.assertTrue(field in row["refused"] or (field == "syscalls" and row["syscalls_text"]), field)
                else:
                    self.assertIsInstance(row[field], kind, field)
            self.assertEqual(row["allocations"], 0)
            self.assertEqual(row["syscalls"] or 0, 0)

    def test_the_contract_goes_into_the_bundle_and_says_what_was_measured(self):
        self.assertIsNone(latency_of(self.path))
        copy = self.path.with_name("b.fox")
        copy.write_bytes(self.path.read_bytes())
        told = json.loads(run(copy, "--write", "-q", "--json", *BRIEF).stdout)
        written = json.loads(latency_of(copy))
        self.assertEqual(written, told)
        self.assertEqual(written["forms"][0]["load"]["loads"], 2)
        again = json.loads(run(copy, "-q", "--json", "--timed", "step", *BRIEF).stdout)  # reads what was written
        self.assertEqual(again["model_id"], told["model_id"])
        self.assertNotEqual(again["id"], told["id"])

    def test_refusals_have_their_exit_codes(self):
        run(code=2)
        run(self.path, "--preset", "default_hft", code=2)
        run("--preset", "default_hft", "--write", code=2)
        run("--preset", "other", code=2)
        run(self.path, "--kernels", "neon", *BRIEF, code=2)
        run(self.path, "--weights", "fp4", *BRIEF, code=2)
        damaged = self.path.with_name("damaged.fox")
        data = bytearray(self.path.read_bytes())
        data[-100] ^= 1
        damaged.write_bytes(data)
        self.assertIn("damaged.fox", run(damaged, *BRIEF, code=3).stderr)


if __name__ == "__main__":
    unittest.main()
