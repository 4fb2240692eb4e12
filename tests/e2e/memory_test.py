#!/usr/bin/env python3
"""The memory contract from the command line: what is estimated, what a budget chooses, what is refused, what is kept.

FOXHUNT names the program. Measured is the kernel's ru_maxrss of a process of its own.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

FOXHUNT = os.environ["FOXHUNT"]
DEMO, STANDARD = "configs/mamba2_es.toml", "configs/standard_es.toml"


def run(*arguments, status=0):
    done = subprocess.run([FOXHUNT, *arguments], capture_output=True, text=True)
    assert done.returncode == status, f"exit {done.returncode}, not {status}: {done.stdout}\n{done.stderr}"
    return done


class Memory(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="foxhunt-memory-test-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def peak_of(self, *arguments):
        """Exit code and peak of the resident set of a run."""
        with open(self.folder / "out", "w") as out:
            child = subprocess.Popen([FOXHUNT, *arguments], stdout=out, stderr=out)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, usage.ru_maxrss * 1024, (self.folder / "out").read_text()

    def test_the_standard_model_fits_four_gigabytes_everywhere(self):
        for device in ("cpu", "cuda"):
            told = json.loads(run("estimate", "--config", STANDARD, "--device", device, "--budget", "4GB", "--json").stdout)
            self.assertLess(told["bytes"], 4e9)
            self.assertEqual(told["device"], device)
            self.assertEqual(told["parts"]["weights"]["bytes"], 4 * told["parameters"])
            self.assertIn("counted", told["data"])

    def test_a_run_of_the_standard_model_stays_below_four_gigabytes(self):
        code, peak, log = self.peak_of(
            "train", "--config", STANDARD, "--memory-budget", "4GB", "--out", str(self.folder / "run"), "--epochs", "1",
            "--set", 'split.train_end="2013-10-09"', "--set", 'split.valid_end="2013-10-10"')
        self.assertEqual(code, 0, log)
        self.assertLess(peak, 4e9)
        self.assertIn("memory:", log)
        line = json.loads((self.folder / "run/metrics.jsonl").read_text().splitlines()[0])
        self.assertGreater(line["allocator_peak_bytes"], 0)
        self.assertLess(line["allocator_peak_bytes"], line["resident_peak_bytes"])
        self.assertIsNone(line["device_bytes"])

    def test_a_tight_budget_is_planned_for_written_down_and_kept(self):
        tight = ["--set", "train.batch_size=32", "--set", "windows.length=512", "--set", "windows.stride=64",
                 "--set", 'split.train_end="2013-10-09"', "--set", 'split.valid_end="2013-10-10"']
        free = json.loads(run("estimate", "--config", DEMO, *tight, "--json").stdout)["bytes"]
        refusal = run("estimate", "--config", DEMO, *tight, "--budget", "1MB", status=4).stderr
        least = int(re.search(r"the least that works is (\d+) MiB", refusal).group(1)) << 20
        budget = (free + least) // 2  # half of what there is to choose about
        code, peak, log = self.peak_of("train", "--config", DEMO, *tight, "--epochs", "1", "--memory-budget", str(budget),
                                       "--out", str(self.folder / "run"))
        self.assertEqual(code, 0, log)
        self.assertLessEqual(peak, budget)
        self.assertIn("as configured it would need", log)
        resolved = (self.folder / "run/config.resolved.toml").read_text()
        self.assertIn(f'memory_budget = "{budget}"', resolved)
        self.assertRegex(resolved, r"micro_batch = [1-9]")
        self.assertIn("batch_size = 32", resolved)

    def test_what_cannot_fit_is_refused_before_training(self):
        for verb in (["estimate", "--budget", "60MB"], ["train", "--memory-budget", "60MB", "--out", str(self.folder / "run")]):
            done = run(verb[0], "--config", STANDARD, *verb[1:], status=4)
            for part in ("does not suffice", "the least that works is", "model.d_model = 256"):
                self.assertIn(part, done.stderr)
        self.assertFalse((self.folder / "run/checkpoints").exists() and list((self.folder / "run/checkpoints").iterdir()))

    def test_nonsense_is_a_wrong_command_line(self):
        for text in ("4XB", "much", "-1GB"):
            for verb in (["estimate", "--budget=" + text], ["train", "--memory-budget=" + text, "--out", str(self.folder / "r")]):
                self.assertIn(f"'{text}'", run(verb[0], "--config", DEMO, *verb[1:], status=2).stderr)

    def test_files_that_are_not_there_are_an_assumption(self):
        told = json.loads(run("estimate", "--config", DEMO, "--set", "data.files=['none.csv']", "--json").stdout)
        self.assertIn("assumed", told["data"])
        told = json.loads(run("estimate", "--config", DEMO, "--rows", "5000000", "--json").stdout)
        self.assertEqual(told["data_rows"], 5000000)


if __name__ == "__main__":
    unittest.main()
