#!/usr/bin/env python3
"""The real torchrun starts foxhunt, ends it, and starts it again.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample). torchrun: FOXHUNT_TORCHRUN, or that of the
venv `torchrun` in foxhunt's cache (docs/scaling.md), or one in PATH; skips by name without.
"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from ranks_test import FOXHUNT, SMALL, call, curves, environment, rank_of

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "foxhunt/torchrun/bin/torchrun"
TORCHRUN = os.environ.get("FOXHUNT_TORCHRUN") or (str(CACHE) if CACHE.exists() else shutil.which("torchrun"))


def descendants(pid):
    """Process ids below `pid`."""
    found = []
    try:
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(child), *descendants(int(child))]
    except OSError:  # ended meanwhile
        pass
    return found


def is_foxhunt(pid):
    try:
        return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(FOXHUNT)
    except OSError:
        return False


@unittest.skipUnless(TORCHRUN, "needs torchrun (FOXHUNT_TORCHRUN)")
class Torchrun(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def alone(self, *more):
        run = call("train", *SMALL, *more, "--out", self.folder / "alone", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def start(self, size, command, *options):
        return subprocess.Popen([TORCHRUN, *options, "--nnodes", "1", "--nproc-per-node", str(size), "--no-python",
                                 *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment())

    def kill_rank(self, process, rank, run):
        give_up = time.time() + 180
        while not (run / "last").exists():
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            self.assertLess(time.time(), give_up)
            time.sleep(0.05)
        os.kill(next(p for p in descendants(process.pid) if is_foxhunt(p) and rank_of(p) == rank), signal.SIGKILL)

    def test_two_and_three_processes_give_the_bits_of_one(self):
        alone = self.alone()
        for size, options in ((2, ["--standalone"]), (3, ["--master-port", "29523"])):
            run = self.folder / f"by{size}"
            process = self.start(size, [FOXHUNT, "train", *SMALL, "--out", run, "--json"], *options)
            out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(json.loads(out)["weights_sha256"], alone["weights_sha256"])  # one report: rank 0's
            self.assertEqual(curves(run), curves(self.folder / "alone"))

    def test_a_killed_rank_ends_the_job_and_one_process_goes_on(self):
        more = ["--set", "train.epochs=8"]
        alone = self.alone(*more)
        run = self.folder / "cut"
        process = self.start(2, [FOXHUNT, "train", *SMALL, *more, "--set", "train.checkpoint_every=1", "--out", run],
                             "--standalone")
        self.kill_rank(process, 1, run)
        begun = time.time()
        _, err = process.communicate(timeout=120)
        self.assertLess(time.time() - begun, 30, err)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((run / "result.json").exists(), "killed too late to show anything")
        self.assertIn("of 2 was lost", err)
        self.assertIn(f"foxhunt resume {run}", err)
        resumed = call("resume", run, "--json")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(json.loads(resumed.stdout)["weights_sha256"], alone["weights_sha256"])

    def test_torchrun_starts_a_job_again_that_goes_on_by_itself(self):
        more = ["--set", "train.epochs=8"]
        alone = self.alone(*more)
        run = self.folder / "again"
        train = shlex.join(map(str, [FOXHUNT, "train", *SMALL, *more, "--set", "train.checkpoint_every=1", "--out", run]))
        resume = shlex.join([FOXHUNT, "resume", str(run)])
        script = f"if [ -e {run}/last ]; then exec {resume}; else exec {train}; fi"
        process = self.start(2, ["bash", "-c", script], "--standalone", "--max-restarts", "1")
        self.kill_rank(process, 1, run)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads((run / "result.json").read_text())["weights_sha256"], alone["weights_sha256"])
        self.assertEqual(len((run / "resumes.jsonl").read_text().splitlines()), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
