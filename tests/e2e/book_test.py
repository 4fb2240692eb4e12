#!/usr/bin/env python3
"""Order books from a market-by-order file to served answers: train, evaluate, walk forward, export, serve event by event.

FOXHUNT names the program, FOXHUNT_SHARED the reference data (without it everything here skips); run from the project's
folder.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SERVE = str(pathlib.Path(FOXHUNT).parent / "foxhunt-serve")
MBO = pathlib.Path(os.environ.get("FOXHUNT_SHARED", "")) / "data/futures/es-mbo/esh4-glbx-mdp3-20231225.mbo.dbn.zst"
QUICK = ["train.epochs=1"]


def call(*args, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600, **options)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@unittest.skipUnless(os.environ.get("FOXHUNT_SHARED") and MBO.exists(), "FOXHUNT_SHARED does not name the order-book file")
class Book(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        os.environ["XDG_CACHE_HOME"] = str(cls.folder / "cache")
        os.environ["FOXHUNT_LEDGER"] = str(cls.folder / "ledger.db")
        cls.set = ["--config", "configs/es_mbo.toml", "--set", f'data.files=["{MBO}"]']
        for value in QUICK:
            cls.set += ["--set", value]
        cls.run_dir = cls.folder / "run"
        cls.train = call("train", *cls.set, "--out", cls.run_dir, "--quiet")
        cls.bundle = cls.folder / "book.fox"
        cls.export = call("export", cls.run_dir, "--out", cls.bundle, "--weights", "fp32", "--json")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ok(self, *args):
        run = call(*args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def predicted(self):
        return lines(self.ok("predict", self.run_dir, "--data", MBO).stdout)

    def test_trains_and_evaluates_within_the_session(self):
        self.assertEqual(self.train.returncode, 0, self.train.stderr)
        out = self.folder / "evaluated.jsonl"
        self.ok("evaluate", self.run_dir, "--split", "test", "--predictions", out)
        evaluated = lines(out.read_text())
        self.assertGreater(len(evaluated), 1000)
        # Rows begin with the session, at 23:00 UTC; what came before only built the book.
        self.assertTrue(all(line["time"].startswith("2023-12-25T23:") for line in evaluated))
        key = lambda line: (line["time"], line["close"])
        predicted = self.predicted()
        keys, first = [key(p) for p in predicted], [key(line) for line in evaluated[:50]]
        begin = next(i for i in range(len(keys)) if keys[i:i + 50] == first)  # times repeat within a packet
        for same, line in zip(predicted[begin:], evaluated):
            self.assertEqual(key(same), key(line))
            for key_of in ("p_down", "p_flat", "p_up"):
                self.assertAlmostEqual(same[key_of], line[key_of], delta=2e-5)  # float32, two orders of summation

    def test_serves_event_by_event_what_predict_answers(self):
        self.assertEqual(self.export.returncode, 0, self.export.stderr)
        self.assertLess(json.loads(self.export.stdout)["candidates"][0]["max_difference"], 1e-5)
        self.ok("verify", self.bundle)
        served = lines(self.ok("serve", self.bundle, "--in", MBO, "--symbol", "ESH4", "--quiet", "--no-timing").stdout)
        predicted = self.predicted()
        self.assertGreater(len(served), 5000)
        self.assertEqual([(a["time"], a["close"]) for a in served], [(a["time"], a["close"]) for a in predicted])
        for a, b in zip(served, predicted):
            for key in ("p_down", "p_flat", "p_up"):
                self.assertAlmostEqual(a[key], b[key], delta=2e-5)  # the certificate's 1e-5, six digits in the text

    def test_a_killed_server_goes_on_with_the_same_book(self):
        whole = self.ok("serve", self.bundle, "--in", MBO, "--symbol", "ESH4", "--quiet", "--no-timing").stdout
        state, out = self.folder / "state", self.folder / "answers.jsonl"
        command = [SERVE, "serve", str(self.bundle), "--in", str(MBO), "--symbol", "ESH4", "--quiet", "--no-timing",
                   "--out", str(out), "--state", str(state), "--save-every", "20000"]
        kills, life = 0, 0.05
        while kills < 200:
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=life)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                life *= 1.3  # at last long enough for a start and some events, whatever the machine
        self.assertEqual(process.returncode, 0)
        self.assertGreater(kills, 0)
        self.assertEqual(out.read_text(), whole)

    def test_bars_and_orders_are_not_mixed_up(self):
        bars = "data/es-sample/es-ohlcv-1m.dbn.zst"
        run = call("train", *self.set, "--set", f'data.files=["{bars}"]', "--out", self.folder / "none", "--quiet")
        self.assertEqual(run.returncode, 3)
        self.assertIn("holds no order event", run.stderr)
        run = call("train", *self.set, "--set", "data.records=bars", "--out", self.folder / "none2", "--quiet")
        self.assertEqual(run.returncode, 3)
        self.assertIn("holds no bar", run.stderr)

    def test_walks_forward_through_the_session(self):
        started = time.monotonic()
        run = self.ok("walkforward", *self.set, "--set", "walkforward.max_folds=2", "--out", self.folder / "walk", "--quiet",
                      "--json")
        report = json.loads(run.stdout)
        self.assertEqual(len(report["folds"]), 2)
        table = (self.folder / "walk/walkforward.txt").read_text()
        self.assertRegex(table, r"fold-002 +2023-12-25 23:\d\d +2023-12-25 23:\d\d", "folds of minutes, not of days")
        print(f"two folds in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    unittest.main()
