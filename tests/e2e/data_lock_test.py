#!/usr/bin/env python3
"""foxhunt data check and data.lock from end to end: what is found, what a lock lets train, and what a refused start leaves.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = pathlib.Path("data/es-sample/es-ohlcv-1m.dbn.zst").resolve()
CONFIG = "configs/mamba2_es.toml"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder


def call(*args, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600, **options)


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def content(folder):
    """Every file below `folder` with its bytes, links as what they point to."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


class DataLock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.rows = cls.folder / "clean.csv"
        done = call("data", "convert", SAMPLE, "--out", cls.rows, "--pretty", "--symbols")
        assert done.returncode == 0, done.stderr
        cls.data = cls.folder / "es.dbn.zst"
        shutil.copy(SAMPLE, cls.data)
        cls.lock = cls.folder / "data.lock"
        done = call("data", "check", cls.data, "--lock", cls.lock)
        assert done.returncode == 0, done.stdout + done.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ok(self, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def refused(self, code, texts, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for text in [texts] if isinstance(texts, str) else texts:
            self.assertIn(text, run.stderr)
        return run

    def damaged(self, name, change):
        """The sample's rows after `change`(rows), as a DBN file."""
        lines = self.rows.read_text().splitlines()
        rows = [line.split(",") for line in lines[1:]]
        change(rows)
        table, path = self.folder / f"{name}.csv", self.folder / f"{name}.dbn"
        table.write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")
        self.ok("data", "convert", table, "--out", path, "--metadata-of", SAMPLE)
        return path

    def train(self, out, *more, data=None, lock=None):
        words = ["train", "--config", CONFIG, "--test", "--quiet", "--json", "--out", out,
                 "--set", f'data.files=["{data or self.data}"]']
        return [*words, *(["--set", f"data.lock={lock}"] if lock else []), *more]

    # ---- data check ------------------------------------------------------------------------------------------------

    def test_the_shipped_sample_passes_and_the_report_says_what_it_read(self):
        report = json.loads(self.ok("data", "check", SAMPLE, "--json").stdout)
        self.assertTrue(report["passed"])
        (file,) = report["files"]
        self.assertEqual(file["sha256"], sha256(SAMPLE))
        self.assertEqual(file["bytes"], SAMPLE.stat().st_size)
        self.assertEqual(file["bars"], len(self.rows.read_text().splitlines()) - 1)
        self.assertEqual(file["errors"], 0)
        self.assertEqual([f["rule"] for f in file["findings"] if f["severity"] == "error"], [])

    def test_planted_damage_is_named_with_place_and_count(self):
        def high_below_low(rows):
            for k in (100, 200, 300):
                rows[k][5], rows[k][6] = rows[k][6], rows[k][5]

        def off_tick(rows):
            rows[400][7] = f"{float(rows[400][6]) + 0.10:.9f}"
            rows[400][5] = f"{float(rows[400][6]) + 1:.9f}"

        def other_values(rows):
            rows.insert(501, [*rows[500][:8], str(int(rows[500][8]) + 1), rows[500][9]])

        for rule, change, count, record in (("ohlc", high_below_low, 3, 101), ("off-tick", off_tick, 1, 401),
                                            ("conflict", other_values, 1, 502)):
            path = self.damaged(rule, change)
            run = call("data", "check", path, "--json")
            self.assertEqual(run.returncode, 3, rule)
            report = json.loads(run.stdout)
            self.assertFalse(report["passed"])
            (file,) = report["files"]
            found = {f["rule"]: f for f in file["findings"] if f["severity"] == "error"}
            self.assertEqual(list(found), [rule])
            self.assertEqual((found[rule]["count"], found[rule]["record"]), (count, record), rule)
            self.assertEqual(file["errors"], 1)
            text = call("data", "check", path)
            self.assertEqual(text.returncode, 3)
            self.assertIn(rule, text.stdout)

    def test_a_file_that_is_cut_short_is_named(self):
        whole = self.damaged("whole", lambda rows: None)
        cut = self.folder / "cut.dbn"
        cut.write_bytes(whole.read_bytes()[:-20])
        run = call("data", "check", whole, cut, "--json")
        self.assertEqual(run.returncode, 3)
        clean, bad = json.loads(run.stdout)["files"]
        self.assertEqual([f["rule"] for f in clean["findings"] if f["severity"] == "error"], [])
        self.assertIn("truncated", [f["rule"] for f in bad["findings"] if f["severity"] == "error"])

    # ---- data.lock -------------------------------------------------------------------------------------------------

    def test_the_locked_file_trains_and_its_findings_go_into_the_run(self):
        out = self.folder / "locked"
        self.ok(*self.train(out, lock=self.lock))
        (locked,) = json.loads(self.lock.read_text())
        (kept,) = json.loads((out / "data.lock").read_text())
        self.assertEqual(kept, locked)
        self.assertEqual(kept["sha256"], sha256(self.data))
        self.assertIn("outlier", kept["checked"]["findings"])

    def test_the_log_of_a_run_begins_with_what_was_read(self):
        out = self.folder / "logged"
        words = [word for word in self.train(out) if word not in ("--quiet", "--json")]
        shown = self.ok(*words).stderr
        log = (out / "log.txt").read_text()
        self.assertIn("19083 bars", log.splitlines()[0])
        self.assertIn("19083 bars", shown)
        times = [line.split()[0] for line in log.splitlines() if line.startswith("20")]
        self.assertEqual(times, sorted(times))

    def test_a_changed_file_is_refused_with_both_hashes(self):
        changed = self.folder / "changed" / self.data.name
        changed.parent.mkdir()

        def one_tick(rows):
            rows[700][5] = f"{float(rows[700][5]) + 0.25:.9f}"

        self.ok("data", "convert", self.damaged("tick", one_tick), "--out", changed)
        out = self.folder / "refused-change"
        self.refused(3, [sha256(changed), sha256(self.data), str(self.lock), str(changed)],
                     *self.train(out, data=changed, lock=self.lock))
        self.assertFalse(out.exists())

    def test_a_file_that_the_lock_does_not_hold_is_refused(self):
        other = self.folder / "other.dbn.zst"
        shutil.copy(SAMPLE, other)
        out = self.folder / "refused-other"
        self.refused(3, f"{other}: not in {self.lock}", *self.train(out, data=other, lock=self.lock))
        self.assertFalse(out.exists())

    def test_a_lock_with_errors_trains_only_where_they_are_accepted(self):
        path = self.damaged("errors", lambda rows: rows[100].__setitem__(5, rows[100][6]))
        lock = self.folder / "errors.lock"
        self.assertEqual(call("data", "check", path, "--lock", lock).returncode, 3)
        out = self.folder / "errors"
        self.refused(3, ["ohlc (1)", "data.accept_errors"], *self.train(out, data=path, lock=lock))
        self.assertFalse(out.exists())
        self.ok(*self.train(out, "--set", "data.accept_errors=true", data=path, lock=lock))

    # ---- a start that is refused leaves nothing --------------------------------------------------------------------

    def reasons(self):
        """(exit code, a word of the refusal, what is added to a start): each is known before the first step."""
        torn = self.folder / "torn.lock"
        torn.write_text(self.lock.read_text()[:-20])
        garbage = self.folder / "garbage.dbn"
        garbage.write_bytes(b"DBN\x03" + b"\x00" * 40)
        other = self.folder / "not-locked.dbn.zst"
        if not other.exists():
            shutil.copy(SAMPLE, other)
        files = "data.files=[\"{}\"]".format
        return [
            (1, "nowhere.lock", ["--set", f"data.lock={self.folder}/nowhere.lock"]),
            (3, "data.lock", ["--set", f"data.lock={torn}"]),
            (3, "not in", ["--set", files(other), "--set", f"data.lock={self.lock}"]),
            (3, "nowhere.dbn", ["--set", files(self.folder / "nowhere.dbn")]),
            (3, "garbage.dbn", ["--set", files(garbage)]),
            (3, "no feature row", ["--set", "data.product=ZN"]),
        ]

    TRAIN_ONLY = [
        (2, "train part is empty", ["--set", "split.train_end=1990-01-01", "--set", "split.valid_end=1990-02-01",
                                    "--set", "split.test_end=1990-03-01"]),
        (2, "--proof", ["--require-proof"]),
        (4, "does not suffice", ["--memory-budget", "1MB"]),
        (2, "lanes", ["--set", "train.lanes=100000"]),
    ]

    def test_training_leaves_no_folder_and_an_earlier_run_as_it_was(self):
        earlier = self.folder / "earlier"
        self.ok(*self.train(earlier))
        before = content(earlier)
        out = self.folder / "never"
        for code, text, more in [*self.reasons(), *self.TRAIN_ONLY]:
            with self.subTest(text):
                self.refused(code, text, *self.train(out, *more))
                self.assertFalse(out.exists())
                self.refused(code, text, *self.train(earlier, "--overwrite", *more))
                self.assertEqual(content(earlier), before)
        self.ok(*self.train(out))

    def test_ranks_leave_no_folder(self):
        out = self.folder / "never-ranks"
        for code, text, more in self.reasons()[:4]:
            with self.subTest(text):
                self.refused(code, text, "launch", "--nproc", 2, "--", *self.train(out, *more))
                self.assertFalse(out.exists())

    def test_walkforward_and_tune_leave_no_folder_and_an_earlier_one_as_it_was(self):
        small = ["--config", CONFIG, "--quiet", "--set", f'data.files=["{self.data}"]', "--set", "train.epochs=1",
                 "--set", "model.d_model=16", "--set", "model.n_layer=1", "--set", "windows.length=64",
                 "--set", "windows.burn_in=16", "--set", "evaluate.bootstrap_samples=10"]
        walk = ["walkforward", *small, "--ledger", "none", "--set", "walkforward.unit=days", "--set", "walkforward.train=8",
                "--set", "walkforward.valid=1", "--set", "walkforward.test=7"]
        tune = ["tune", *small, "--ledger", "none", "--set", "tune.trials=1",
                "--set", 'tune.ranges=["train.schedule.lr = log(1e-4, 1e-2)"]']
        for name, words in (("walk", walk), ("tune", tune)):
            earlier, out = self.folder / f"{name}-earlier", self.folder / f"{name}-never"
            self.ok(*words, "--out", earlier)
            before = content(earlier)
            for code, text, more in self.reasons()[:5]:
                with self.subTest(verb=name, reason=text):
                    self.refused(code, text, *words, "--out", out, *more)
                    self.assertFalse(out.exists())
                    self.refused(code, text, *words, "--out", earlier, "--overwrite", *more)
                    self.assertEqual(content(earlier), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
