#!/usr/bin/env python3
"""From a trained run to served answers: export, verify on every instruction set, serve as evaluate answered.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder
os.environ.setdefault("FOXHUNT_LEDGER", CACHE.name + "/ledger.db")  # and so does what train and evaluate record


def call(*args, env=None, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **(env or {})}, **options)


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.run_dir = cls.folder / "run"
        cls.train = call("train", "--config", "configs/mamba2_es.toml", "--test", "--out", cls.run_dir, "--quiet")
        cls.bundles = {}
        cls.reports = {}
        for weights in ("fp32", "auto"):
            path = cls.folder / f"{weights}.fox"
            run = call("export", cls.run_dir, "--out", path, "--weights", weights, "--json")
            cls.bundles[weights] = path
            cls.reports[weights] = run

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ok(self, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def lines(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def test_export_proves_every_form_and_takes_the_fastest(self):
        report = json.loads(self.reports["auto"].stdout)
        candidates = {c["weights"]: c for c in report["candidates"]}
        self.assertEqual(set(candidates), {"fp32", "fp16", "bf16", "int8"})
        self.assertLess(candidates["fp32"]["max_difference"], 1e-5)
        self.assertGreater(candidates["fp32"]["rows"], 5000)
        able = [c for c in report["candidates"] if c["ok"]]
        self.assertEqual(report["weights"], min(able, key=lambda c: c["step_us"])["weights"])

    def test_a_bundle_is_verified_under_every_instruction_set(self):
        kernels = set()
        for isa in ("scalar", "avx2", "avx512"):
            run = call("verify", self.bundles["fp32"], "--json", env={"FOXHUNT_FORCE_ISA": isa})
            if run.returncode == 2 and "cannot run on this CPU" in run.stderr:
                continue
            self.assertEqual(run.returncode, 0, run.stderr)
            report = json.loads(run.stdout)
            self.assertTrue(report["ok"])
            self.assertLess(report["max_difference"], 1e-5)
            self.assertEqual(report["decision_flips"], 0)
            self.assertIn(isa, report["kernels"])
            kernels.add(report["kernels"])
        self.assertGreaterEqual(len(kernels), 2)
        self.ok("verify", self.bundles["auto"])

    def test_one_flipped_bit_anywhere_is_refused(self):
        whole = bytearray(self.bundles["fp32"].read_bytes())
        draw = random.Random(1)
        damaged = self.folder / "damaged.fox"
        for at in [0, 7, 8, len(whole) - 1] + [draw.randrange(len(whole)) for _ in range(20)]:
            whole[at] ^= 1 << draw.randrange(8)
            damaged.write_bytes(whole)
            for verb in (["verify", damaged], ["serve", damaged, "--in", SAMPLE]):
                run = call(*verb)
                self.assertEqual(run.returncode, 3, f"byte {at}: {run.stdout}{run.stderr}")
                self.assertIn("damaged.fox", run.stderr)
            whole = bytearray(self.bundles["fp32"].read_bytes())

    def test_serve_answers_as_evaluate_did(self):
        predictions = self.folder / "evaluated.jsonl"
        self.ok("evaluate", self.run_dir, "--split", "test", "--predictions", predictions)
        want = {line["time"]: line for line in self.lines(predictions.read_text())}
        self.assertGreater(len(want), 3000)
        served = self.lines(self.ok("serve", self.bundles["fp32"], "--in", SAMPLE, "--quiet").stdout)
        got = {line["time"]: line for line in served}
        self.assertEqual(len(got), len(served), "a time comes once")
        for time, line in want.items():
            for key in ("symbol", "close", "bar_start"):
                self.assertEqual(got[time][key], line[key])
            for key in ("p_down", "p_flat", "p_up"):
                # The certificate's 1e-5 of outputs of about 1, and six digits in the text.
                self.assertAlmostEqual(got[time][key], line[key], delta=2e-5)
        predicted = self.lines(self.ok("predict", self.run_dir, "--data", SAMPLE).stdout)
        self.assertEqual([line["time"] for line in predicted], [line["time"] for line in served])

    def test_what_cannot_be_exported_is_refused_and_leaves_nothing(self):
        nowhere = self.folder / "none.fox"
        run = call("export", self.folder, "--out", nowhere)
        self.assertEqual(run.returncode, 3)
        run = call("export", self.run_dir, "--out", self.folder / "no-folder" / "x.fox")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("x.fox", run.stderr)
        run = call("export", self.run_dir, "--out", nowhere, "--weights", "fp8")
        self.assertEqual(run.returncode, 2)
        self.assertFalse(nowhere.exists())


if __name__ == "__main__":
    unittest.main()
