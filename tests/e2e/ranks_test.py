#!/usr/bin/env python3
"""Several processes train one model: the bits of one process, lost ranks, wrong environments.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SMALL = ["--config", "configs/mamba2_es.toml", "--set", "train.epochs=2", "--set", "windows.length=64",
         "--set", "windows.burn_in=16", "--set", "model.n_layer=1", "--set", "train.batch_size=8",
         "--set", "train.patience=0", "--set", "train.lanes=5"]
QUICK = {"TORCH_CPP_LOG_LEVEL": "ERROR"}  # c10d's own warnings are no part of what is looked at


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
    return {**clean, **QUICK, **{k: str(v) for k, v in more.items()}}


def start(*args, **more):
    return subprocess.Popen([FOXHUNT, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment(**more))


def call(*args, **more):
    process = start(*args, **more)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def rank_of(pid):
    words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next((int(w[5:]) for w in words if w.startswith(b"RANK=")), None)


def curves(run):
    keep = ("epoch", "step", "train_loss", "valid_loss", "grad_norm_mean", "grad_norm_max", "parameter_norm", "lr")
    return [{k: json.loads(line)[k] for k in keep} for line in (run / "metrics.jsonl").read_text().splitlines()]


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        run = call("train", *SMALL, "--out", cls.folder / "alone", "--json")
        assert run.returncode == 0, run.stderr
        cls.alone = json.loads(run.stdout)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def launch(self, size, name, *more):
        return call("launch", "--nproc", size, "--json", "--", "train", *SMALL, "--out", self.folder / name, *more)

    def same_as_alone(self, run, name):
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)  # one report: rank 0's
        self.assertEqual(report["weights_sha256"], self.alone["weights_sha256"])
        self.assertEqual(report["best_valid_loss"], self.alone["best_valid_loss"])
        self.assertEqual(curves(self.folder / name), curves(self.folder / "alone"))

    def running(self, name, *more, size=2, **environment):
        """A launched training that has written its first checkpoint: process, {rank: pid}."""
        long = [*SMALL, "--set", "train.epochs=400", "--set", "train.checkpoint_every=1", *more]
        process = start("launch", "--nproc", size, "--", "train", *long, "--out", self.folder / name, **environment)
        give_up = time.time() + 120
        while not (self.folder / name / "last").exists():
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            self.assertLess(time.time(), give_up)
            time.sleep(0.05)
        ranks = {rank_of(pid): pid for pid in children_of(process.pid)}
        self.assertEqual(sorted(ranks), list(range(size)))
        return process, ranks

    def end_of(self, process, seconds):
        begun = time.time()
        out, err = process.communicate(timeout=120)
        self.assertLess(time.time() - begun, seconds, err)
        return process.returncode, err

    # ---- one result ------------------------------------------------------------------------------------------------

    def test_two_processes_give_the_bits_of_one(self):
        self.same_as_alone(self.launch(2, "two"), "two")

    def test_three_processes_give_the_bits_of_one(self):
        self.same_as_alone(self.launch(3, "three"), "three")

    def test_more_ranks_than_lanes_are_refused_by_name(self):
        run = self.launch(6, "crowd")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("6 ranks share 5 lanes", run.stderr)
        self.assertIn("train.lanes", run.stderr)
        self.assertFalse((self.folder / "crowd").exists())  # refused before anything was written

    def test_variables_of_torchrun_give_the_bits_of_one(self):
        port = free_port()
        shared = {"WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LOCAL_WORLD_SIZE": 2}
        args = ["train", *SMALL, "--out", self.folder / "variables", "--json"]
        other = start(*args, RANK=1, LOCAL_RANK=1, **shared)
        first = call(*args, RANK=0, LOCAL_RANK=0, **shared)
        out, err = other.communicate(timeout=120)
        self.assertEqual((other.returncode, out), (0, ""), err)
        self.same_as_alone(first, "variables")

    def test_variables_of_slurm_give_the_bits_of_one(self):
        shared = {"SLURM_STEP_NUM_TASKS": 2, "MASTER_PORT": free_port(), "SLURM_STEP_NODELIST": "localhost"}
        args = ["train", *SMALL, "--out", self.folder / "slurm", "--json"]
        other = start(*args, SLURM_PROCID=1, **shared)
        first = call(*args, SLURM_PROCID=0, **shared)
        self.assertEqual(other.wait(timeout=120), 0, other.communicate())
        self.same_as_alone(first, "slurm")

    # ---- refused ---------------------------------------------------------------------------------------------------

    def test_wrong_variables_are_named(self):
        for text, more in (("RANK=2 of WORLD_SIZE=2", {"RANK": 2, "WORLD_SIZE": 2}),
                           ("RANK=one is no number", {"RANK": "one", "WORLD_SIZE": 2}),
                           ("MASTER_ADDR is not set", {"RANK": 1, "WORLD_SIZE": 2, "MASTER_PORT": 1}),
                           ("WORLD_SIZE is not set", {"RANK": 1})):
            run = call("train", *SMALL, "--out", self.folder / "wrong", **more)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(text, run.stderr)
        self.assertFalse((self.folder / "wrong").exists())

    def test_ranks_with_different_configurations_are_refused_naming_the_rank(self):
        shared = {"WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
        args = ["train", *SMALL, "--out", self.folder / "different"]
        other = start(*args, "--seed", 2, RANK=1, **shared)
        first = call(*args, RANK=0, **shared)
        _, err = other.communicate(timeout=120)
        for code, text in ((first.returncode, first.stderr), (other.returncode, err)):
            self.assertEqual(code, 2, text)
            self.assertIn("rank 1 has another configuration than rank 0", text)
        self.assertFalse((self.folder / "different").exists())

    def test_an_error_of_rank_0_is_told_to_the_others(self):
        (self.folder / "taken").mkdir()
        (self.folder / "taken" / "file").touch()
        run = self.launch(2, "taken")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("is not empty and holds no run", run.stderr)
        self.assertIn("[rank 1] foxhunt: rank 0 of 2 ended: ", run.stderr)

    # ---- lost ------------------------------------------------------------------------------------------------------

    def check_lost(self, name, lost):
        process, ranks = self.running(name)
        os.kill(ranks[lost], signal.SIGKILL)
        code, err = self.end_of(process, 30)
        self.assertEqual(code, 128 + signal.SIGKILL, err)
        self.assertIn(f"rank {lost} of 2 was lost", err)
        self.assertIn(f"foxhunt resume {self.folder / name}", err)
        self.assertTrue((self.folder / name / "last" / "DONE").exists())

    def test_a_killed_rank_1_ends_the_other_with_a_message(self):
        self.check_lost("killed1", 1)

    def test_a_killed_rank_0_ends_the_other_with_a_message(self):
        self.check_lost("killed0", 0)

    def test_a_run_whose_rank_was_killed_resumes_with_any_number_of_ranks_to_the_same_bits(self):
        want = call("train", *SMALL, "--set", "train.epochs=6", "--out", self.folder / "six", "--json")
        want = json.loads(want.stdout)
        process, ranks = self.running("cut", "--set", "train.epochs=6")
        os.kill(ranks[1], signal.SIGKILL)
        self.end_of(process, 30)
        self.assertFalse((self.folder / "cut" / "result.json").exists(), "killed too late to show anything")
        shutil.copytree(self.folder / "cut", self.folder / "cut3", symlinks=True)
        alone = call("resume", self.folder / "cut", "--json")
        three = call("launch", "--nproc", 3, "--json", "--", "resume", self.folder / "cut3")
        for run, name in ((alone, "cut"), (three, "cut3")):
            self.assertEqual(run.returncode, 0, run.stderr)
            report = json.loads(run.stdout)
            self.assertEqual(report["weights_sha256"], want["weights_sha256"])
            self.assertEqual(report["steps"], want["steps"])
            self.assertEqual(curves(self.folder / name), curves(self.folder / "six"))
        again = call("launch", "--nproc", 2, "--json", "--", "resume", self.folder / "cut3")  # it has ended
        self.assertEqual(json.loads(again.stdout)["weights_sha256"], want["weights_sha256"])

    def test_a_paused_run_of_one_process_goes_on_in_two(self):
        first = call("train", *SMALL, "--out", self.folder / "paused", "--pause-after-epoch", 1)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.same_as_alone(call("launch", "--nproc", 2, "--json", "--", "resume", self.folder / "paused"), "paused")

    def test_a_stopped_rank_ends_the_other_after_the_timeout(self):
        process, ranks = self.running("stopped", "--set", "train.rank_timeout=4")
        os.kill(ranks[1], signal.SIGSTOP)
        give_up = time.time() + 30
        while pathlib.Path(f"/proc/{ranks[0]}/stat").exists() and time.time() < give_up:
            if pathlib.Path(f"/proc/{ranks[0]}/stat").read_text().split()[2] == "Z":
                break
            time.sleep(0.1)
        self.assertLess(time.time(), give_up)
        os.kill(ranks[1], signal.SIGCONT)
        code, err = self.end_of(process, 30)
        self.assertEqual(code, 1, err)
        self.assertIn("rank 1 of 2 was lost: no sign of life for 4.0 s", err)

    def test_ctrl_c_stops_all_ranks_at_one_step_and_saves(self):
        process, ranks = self.running("interrupted")
        os.kill(ranks[1], signal.SIGINT)  # whoever gets it
        code, err = self.end_of(process, 30)
        self.assertEqual(code, 130, err)
        self.assertRegex(err, r"foxhunt: interrupted at step \d+; saved in")
        self.assertTrue((self.folder / "interrupted" / "last" / "DONE").exists())

    def test_launch_hands_signals_on(self):
        process, _ = self.running("terminated")
        process.send_signal(signal.SIGTERM)
        code, err = self.end_of(process, 30)
        self.assertEqual(code, 130, err)
        self.assertRegex(err, r"foxhunt: interrupted at step \d+; saved in")


if __name__ == "__main__":
    unittest.main(verbosity=2)
