#!/usr/bin/env python3
"""A leak proof on its way: features prove, leakproof.json, train --proof, the run folder, export --require-proof, the bundle.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
CONFIG = ["--config", "configs/mamba2_es.toml"]
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder
EXPORT = ["--weights", "fp32", "--parity-bars", 2000, "--golden-bars", 500, "--ledger", "none", "--quiet", "--json"]


def call(*args):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600)


def train(out, *more):
    return ["train", *CONFIG, "--test", "--quiet", "--json", "--ledger", "none", "--out", out, *more]


def seal(json_text):
    """As docs/proofs.md says: SHA-256 over the canonical text without the entry itself."""
    content = json.loads(json_text)
    content.pop("sha256", None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def header(bundle):
    """The names of a bundle's header, which is a safetensors file."""
    raw = pathlib.Path(bundle).read_bytes()
    return json.loads(raw[8:8 + struct.unpack_from("<Q", raw)[0]])["__metadata__"]


class Proof(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.proof = cls.folder / "leakproof.json"
        made = call("features", "prove", *CONFIG, "--points", 8, "--out", cls.proof)
        assert made.returncode == 0, made.stdout + made.stderr
        cls.proven = cls.folder / "proven"
        run = call(*train(cls.proven, "--proof", cls.proof, "--require-proof"))
        assert run.returncode == 0, run.stderr
        cls.unproven = cls.folder / "unproven"
        run = call(*train(cls.unproven))
        assert run.returncode == 0, run.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ok(self, *args):
        run = call(*args)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def refused(self, code, texts, *args):
        run = call(*args)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for text in [texts] if isinstance(texts, str) else texts:
            self.assertIn(text, run.stderr)

    def not_trained(self, code, texts, *more):
        out = self.folder / "refused"
        self.refused(code, texts, *train(out, *more))
        self.assertFalse(out.exists())

    def copy(self, name):
        path = self.folder / name
        shutil.copytree(self.proven, path, symlinks=True)
        return path

    # ---- the way through -------------------------------------------------------------------------------------------

    def test_the_file_says_what_it_proves_and_carries_its_seal(self):
        proof = json.loads(self.proof.read_text())
        self.assertIs(proof["proven"], True)
        self.assertEqual(proof["subject"]["data"],
                         [{"file": "es-ohlcv-1m.dbn.zst", "sha256": hashlib.sha256(pathlib.Path(SAMPLE).read_bytes()).hexdigest()}])
        self.assertTrue(all(p["holds"] and p["tries"] > 0 and p["compared"] > 0 for p in proof["proofs"]))
        self.assertEqual((proof["corpus"]["caught"], proof["corpus"]["false_alarms"]), (proof["corpus"]["faults"], 0))
        self.assertEqual(proof["sha256"], seal(self.proof.read_text()))
        shown = self.ok("features", "prove", "--verify", self.proof, *CONFIG).stdout
        self.assertIn(proof["sha256"], shown)

    def test_the_run_keeps_it_byte_for_byte_and_says_so(self):
        self.assertEqual((self.proven / "leakproof.json").read_bytes(), self.proof.read_bytes())
        self.assertIn("leak proof holds", (self.proven / "report.html").read_text())
        sha256 = json.loads(self.proof.read_text())["sha256"]
        self.assertIn(f"leak proof {sha256[:16]} holds", (self.proven / "log.txt").read_text())
        self.assertFalse((self.unproven / "leakproof.json").exists())
        self.assertIn("unproven", (self.unproven / "log.txt").read_text())
        # A proof is about the data and changes nothing of the training.
        results = [json.loads((run / "result.json").read_text())["weights_sha256"] for run in (self.proven, self.unproven)]
        self.assertEqual(*results)

    def test_export_demands_it_and_the_bundle_carries_it(self):
        bundle = self.folder / "proven.fox"
        report = json.loads(self.ok("export", self.proven, "--out", bundle, "--require-proof", *EXPORT).stdout)
        self.assertEqual(report["leak_proof"], json.loads(self.proof.read_text())["sha256"])
        self.assertEqual(header(bundle)["foxhunt.leakproof"], self.proof.read_text())
        self.ok("verify", bundle)

    # ---- without ---------------------------------------------------------------------------------------------------

    def test_without_a_proof_it_is_refused_where_one_is_demanded(self):
        self.not_trained(2, ["a proof is required", "--proof"], "--require-proof")
        self.not_trained(1, "nowhere.json", "--proof", self.folder / "nowhere.json")
        bundle = self.folder / "unproven.fox"
        self.refused(3, [str(self.unproven), "is unproven", "train --proof"],
                     "export", self.unproven, "--out", bundle, "--require-proof", *EXPORT)
        self.assertFalse(bundle.exists())
        report = json.loads(self.ok("export", self.unproven, "--out", bundle, *EXPORT).stdout)
        self.assertIsNone(report["leak_proof"])
        self.assertNotIn("foxhunt.leakproof", header(bundle))

    # ---- of something else -----------------------------------------------------------------------------------------

    def test_a_proof_of_another_configuration_is_refused_by_what_differs(self):
        shorter = self.folder / "shorter.dbn"
        self.ok("data", "convert", SAMPLE, "--out", shorter)
        for what, *sets in (("[label]", "label.horizon=7"), ("[split]", "split.embargo_minutes=61"),
                            ("[features]", "features.clip=4.5"), ("symbol", "data.symbol=ESZ3"),
                            ("SHA-256 of data file 1", f'data.files=["{shorter}"]'),
                            ("number of data files", f'data.files=["{SAMPLE}", "{shorter}"]'),
                            ("[data.csv]", "data.csv.bar_stamp=end")):
            with self.subTest(what):
                more = [word for s in sets for word in ("--set", s)]
                self.not_trained(3, [str(self.proof), "speaks of something else", what + ":"], "--proof", self.proof, *more)
                self.refused(3, what + ":", "features", "prove", "--verify", self.proof, *CONFIG, *more)

    def test_what_a_proof_does_not_speak_of_may_differ(self):
        out = self.folder / "other-model"
        self.ok(*train(out, "--proof", self.proof, "--require-proof", "--set", "model.d_model=16", "--seed", 5))
        self.assertEqual((out / "leakproof.json").read_bytes(), self.proof.read_bytes())

    # ---- altered ---------------------------------------------------------------------------------------------------

    def test_one_changed_byte_is_refused_wherever_it_is(self):
        whole = self.proof.read_bytes()
        draw = random.Random(2)
        altered = self.folder / "altered.json"
        for at in [0, len(whole) - 2] + [draw.randrange(len(whole)) for _ in range(60)]:
            one = bytearray(whole)
            one[at] ^= 1 << draw.randrange(7)
            altered.write_bytes(one)
            run = call("features", "prove", "--verify", altered)
            self.assertEqual(run.returncode, 3, f"byte {at}: {whole[at]:#x} to {one[at]:#x}: {run.stdout}{run.stderr}")
            self.assertIn("altered.json", run.stderr)
        failures = whole.index(b'"failures": 0') + len(b'"failures": ')
        altered.write_bytes(whole[:failures] + b"9" + whole[failures + 1:])
        self.not_trained(3, ["altered.json", "was changed after it was written"], "--proof", altered)
        run = self.copy("altered-run")
        shutil.copy(altered, run / "leakproof.json")
        bundle = self.folder / "altered.fox"
        self.refused(3, [str(run / "leakproof.json"), "was changed after it was written"],
                     "export", run, "--out", bundle, "--require-proof", *EXPORT)
        self.assertFalse(bundle.exists())

    def sealed(self, name, change):
        """A proof that was changed and sealed anew: the seal is no signature."""
        proof = json.loads(self.proof.read_text())
        change(proof)
        proof["sha256"] = seal(json.dumps(proof))
        path = self.folder / name
        path.write_text(json.dumps(proof, indent=2) + "\n")
        return path

    def test_a_proof_that_found_a_leak_is_refused_with_the_leak(self):
        leaky = self.sealed("leaky.json", lambda proof: proof.update(proven=False, first="column 'x' at noon"))
        self.not_trained(3, ["leaky.json", "a leak was found", "column 'x' at noon"], "--proof", leaky)
        self.assertEqual(call("features", "prove", "--verify", leaky).returncode, 3)

    def test_the_proof_in_a_run_must_speak_of_what_the_run_was_trained_on(self):
        other = self.sealed("other.json", lambda proof: proof["subject"]["data"][0].update(sha256="0" * 64))
        self.not_trained(3, "SHA-256 of data file 1", "--proof", other)
        run = self.copy("swapped-run")
        shutil.copy(other, run / "leakproof.json")
        bundle = self.folder / "swapped.fox"
        self.refused(3, "SHA-256 of data file 1", "export", run, "--out", bundle, "--require-proof", *EXPORT)
        report = call("export", run, "--out", bundle, *[word for word in EXPORT if word != "--quiet"])
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("the bundle is unproven", report.stderr)
        self.assertNotIn("foxhunt.leakproof", header(bundle))

    def test_the_same_program_proves_to_the_same_bytes(self):
        again = self.folder / "again.json"
        self.ok("features", "prove", *CONFIG, "--points", 8, "--out", again)
        self.assertEqual(again.read_bytes(), self.proof.read_bytes())


if __name__ == "__main__":
    unittest.main(verbosity=2)
