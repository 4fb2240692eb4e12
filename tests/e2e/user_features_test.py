#!/usr/bin/env python3
"""Columns of a user's library from proof to served answers; every other library is refused.

FOXHUNT and FOXHUNT_SERVE name the programs, USER_FEATURES the library of examples/user_features.c, TEST_PLUGINS the folder
of those with a planted fault; run from the project's folder (it reads data/es-sample).
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FOXHUNT, SERVE = os.environ["FOXHUNT"], os.environ["FOXHUNT_SERVE"]
EXAMPLE = pathlib.Path(os.environ["USER_FEATURES"])
FAULTS = pathlib.Path(os.environ["TEST_PLUGINS"])
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder
os.environ.setdefault("FOXHUNT_LEDGER", CACHE.name + "/ledger.db")  # and so does what train records
os.environ.pop("FOXHUNT_PLUGINS", None)


def call(*args, program=FOXHUNT, env=None):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **(env or {})})


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class UserFeatures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.library = cls.folder / "mine.so"
        shutil.copy(EXAMPLE, cls.library)
        cls.config = cls.folder / "with_plugin.toml"
        cls.config.write_text(f"[features]\nplugins = ['{cls.library}']\n")
        cls.configs = ["--config", "configs/mamba2_es.toml", "--config", cls.config]
        cls.proof = cls.folder / "leakproof.json"
        cls.run_dir = cls.folder / "run"
        cls.bundle = cls.folder / "es.fox"
        cls.steps = {
            "prove": call("features", "prove", *cls.configs, "--points", "8", "--out", cls.proof),
            "train": call("train", *cls.configs, "--test", "--proof", cls.proof, "--require-proof", "--out", cls.run_dir),
            "export": call("export", cls.run_dir, "--out", cls.bundle, "--weights", "fp32", "--require-proof"),
        }

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        for name, step in self.steps.items():
            self.assertEqual(step.returncode, 0, f"{name}: {step.stdout}{step.stderr}")

    def tearDown(self):
        shutil.copy(EXAMPLE, self.library)

    def ok(self, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def test_the_proof_names_the_library_and_its_own_proofs(self):
        proof = json.loads(self.proof.read_text())
        self.assertTrue(proof["proven"])
        self.assertEqual(proof["subject"]["libraries"],
                         [{"name": "user_features", "version": "1.0", "sha256": sha256(EXAMPLE)}])
        names = {p["name"] for p in proof["proofs"]}
        self.assertLessEqual({"made-again", "streams-apart", "finite-values", "training-is-serving"}, names)

    def test_the_server_answers_as_predict_does(self):
        served = [json.loads(line) for line in
                  self.ok("serve", self.bundle, "--in", SAMPLE, "--quiet", program=SERVE).stdout.splitlines()]
        predicted = [json.loads(line) for line in self.ok("predict", self.run_dir, "--data", SAMPLE).stdout.splitlines()]
        self.assertGreater(len(served), 10000)
        self.assertEqual([line["time"] for line in served], [line["time"] for line in predicted])
        for one, other in zip(served, predicted):
            for key in ("p_down", "p_flat", "p_up"):
                # The certificate's 1e-5 of outputs of about 1, and six digits in the text.
                self.assertAlmostEqual(one[key], other[key], delta=2e-5)
        self.ok("verify", self.bundle, program=SERVE)
        self.ok("evaluate", self.run_dir)

    def test_another_library_is_refused_wherever_it_would_be_used(self):
        shutil.copy(FAULTS / "random.so", self.library)
        both = (sha256(EXAMPLE), sha256(self.library))
        for verb, program in ((("serve", self.bundle, "--in", SAMPLE), SERVE), (("verify", self.bundle), SERVE),
                              (("predict", self.run_dir, "--data", SAMPLE), FOXHUNT), (("evaluate", self.run_dir), FOXHUNT)):
            run = call(*verb, program=program)
            self.assertEqual(run.returncode, 3, f"{verb}: {run.stdout}{run.stderr}")
            self.assertIn("mine.so: is not the library", run.stderr)
            for digest in both:
                self.assertIn(digest, run.stderr)
        # The proof of the old library does not speak of the new one.
        run = call("train", *self.configs, "--test", "--proof", self.proof, "--out", self.folder / "other")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("feature schema", run.stderr)

    def test_a_library_that_moved_is_found_by_its_name(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        shutil.move(self.library, elsewhere / "mine.so")
        run = call("verify", self.bundle, program=SERVE)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn(f"there is no file '{self.library}'", run.stderr)
        self.ok("verify", self.bundle, program=SERVE, env={"FOXHUNT_PLUGINS": f"/nowhere:{elsewhere}"})

    def test_planted_faults_are_leaks(self):
        for fault, proofs in (("peeks", ("training-is-serving", "made-again")), ("own_state", ("streams-apart",)),
                              ("random", ("made-again",)), ("short_warm_up", ("warm-up",)), ("not_finite", ("finite-values",))):
            report = self.folder / f"{fault}.json"
            run = call("features", "prove", "--config", "configs/mamba2_es.toml", "--points", "4", "--out", report, "--set",
                       f"features.plugins=['{FAULTS}/{fault}.so']")
            self.assertEqual(run.returncode, 3, f"{fault}: {run.stdout}{run.stderr}")
            failed = {p["name"] for p in json.loads(report.read_text())["proofs"] if not p["holds"]}
            for name in proofs:
                self.assertIn(name, failed, fault)
            run = call("train", "--config", "configs/mamba2_es.toml", "--test", "--set",
                       f"features.plugins=['{FAULTS}/{fault}.so']", "--proof", report, "--out", self.folder / fault)
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("a leak was found", run.stderr)


if __name__ == "__main__":
    unittest.main()
