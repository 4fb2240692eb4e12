#!/usr/bin/env python3
"""Walk-forward, tuning, and the ledger of trials and models, through the command line on the sample.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="foxhunt-experiments-"))
os.environ["FOXHUNT_LEDGER"] = str(FOLDER / "default.db")
# A model of a few seconds.
SMALL = ["--config", "configs/mamba2_es.toml", "--set", "model.d_model=8", "--set", "model.n_layer=1",
         "--set", "model.d_state=4", "--set", "model.headdim=4", "--set", "windows.length=64",
         "--set", "windows.burn_in=8", "--set", "evaluate.bootstrap_samples=50"]


def tearDownModule():
    shutil.rmtree(FOLDER)


def call(*args, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=800, **options)


class Case(unittest.TestCase):
    maxDiff = None

    def ok(self, *args):
        run = call(*args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def json(self, *args):
        return json.loads(self.ok(*args, "--json", "-q").stdout)


class Ledger(Case):
    """Two runs, evaluated; one exported, promoted, rolled back."""

    @classmethod
    def setUpClass(cls):
        cls.db = FOLDER / "models" / "ledger.db"
        at = ["--ledger", cls.db, "-q", "--json"]
        cls.runs = [FOLDER / "one", FOLDER / "two"]
        cls.trained = [call("train", *SMALL, "--set", "train.epochs=1", "--seed", i, "--out", run, *at)
                       for i, run in enumerate(cls.runs)]
        cls.evaluated = [call("evaluate", run, *at) for run in (cls.runs[0], cls.runs[0], cls.runs[1])]
        cls.bundles = [FOLDER / "first.fox", FOLDER / "second.fox"]
        cls.exported = [call("export", run, "--out", bundle, "--weights", "fp32", "--parity-bars", 2000,
                             "--golden-bars", 500, *at) for run, bundle in zip(cls.runs, cls.bundles)]

    def models(self, *args):
        return self.json("models", *args, "--ledger", self.db)

    def test_evaluations_are_counted_once_a_set_of_weights_and_correct_the_headline(self):
        reports = [json.loads(run.stdout) for run in self.evaluated]
        self.assertEqual([r["trials"]["count"] for r in reports], [1, 1, 2])
        for report, n in zip(reports, (1, 1, 2)):
            main = report["deflated"]["log_loss"]
            self.assertAlmostEqual(main["gain"], -report["vs_best_baseline"]["log_loss"]["difference"])
            self.assertAlmostEqual(main["gain"] - main["deflated"], main["chance"])
            self.assertEqual(main["chance"] > 0, n > 1)
        self.assertEqual(json.loads((self.runs[1] / "evaluation-test.json").read_text())["trials"]["count"], 2)
        sets = self.models("trials")
        self.assertEqual([(s["evaluations"], s["trials"]) for s in sets], [(3, 2)])

    def test_a_run_and_its_bundle_are_registered_with_their_lineage(self):
        models = self.models("list")
        self.assertEqual([(m["name"], m["kind"]) for m in models],
                         [("one", "run"), ("two", "run"), ("first", "bundle"), ("second", "bundle")])
        run, bundle = models[0], models[2]
        self.assertEqual(run["weights_sha256"], json.loads(self.trained[0].stdout)["weights_sha256"])
        for field in ("weights_sha256", "config_sha256", "data_sha256", "run"):
            self.assertEqual(run[field], bundle[field], field)
        lock = (self.runs[0] / "data.lock").read_bytes()
        self.assertEqual(run["data_sha256"], hashlib.sha256(lock).hexdigest())
        self.assertEqual(bundle["file_sha256"], hashlib.sha256(self.bundles[0].read_bytes()).hexdigest())
        self.assertEqual(bundle["id"], json.loads(self.exported[0].stdout)["id"])
        self.assertGreater(bundle["certificate"]["rows"] if "rows" in bundle["certificate"] else 1, 0)
        shown = self.models("show", bundle["id"][:10])
        self.assertEqual(len(shown["evaluations"]), 2)

    def test_history_answers_which_model_served_at_any_instant(self):
        facts = [self.models("promote", name, "prod", "--note", note)
                 for name, note in (("first", "start"), ("second", "better"), ("first", "rollback"))]
        history = self.models("history", "prod")
        self.assertEqual([h["name"] for h in history], ["first", "second", "first"])
        self.assertEqual([h["until"] for h in history], [facts[1]["from"], facts[2]["from"], None])
        for fact in facts:
            self.assertEqual(self.models("history", "prod", "--at", fact["from"])["entry"], fact["entry"])
        self.assertEqual(self.models("history", "prod", "--at", "2100-01-01")["note"], "rollback")
        early = call("models", "history", "prod", "--at", "2000-01-01T14:30Z", "--ledger", self.db)
        self.assertEqual(early.returncode, 3)
        self.assertIn("named no model", early.stderr)

    def test_promotion_refuses_runs_and_changed_files_unless_forced_and_says_so(self):
        run = call("models", "promote", "one", "canary", "--ledger", self.db)
        self.assertEqual(run.returncode, 3)
        self.assertIn("not a bundle", run.stderr)
        copy = FOLDER / "copy.fox"
        shutil.copy(self.bundles[0], copy)
        self.ok("models", "register", copy, "--ledger", self.db)
        copy.write_bytes(copy.read_bytes() + b"x")
        changed = call("models", "promote", "copy", "canary", "--ledger", self.db)
        self.assertIn("SHA-256 differs", changed.stderr)
        forced = self.models("promote", "copy", "canary", "--force")
        self.assertIn("SHA-256 differs", forced["forced"])
        self.assertIn("FORCED", self.ok("models", "history", "canary", "--ledger", self.db).stdout)

    def test_the_chain_holds_by_a_second_implementation_and_a_change_is_found(self):
        rows = sqlite3.connect(self.db).execute(
            "SELECT previous, seq, at, kind, subject, body, hash FROM entry ORDER BY seq").fetchall()
        self.assertGreater(len(rows), 6)
        last = ""
        for *fields, digest in rows:
            self.assertEqual(fields[0], last)
            text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
            last = hashlib.sha256(text.encode()).hexdigest()
            self.assertEqual(digest, last)
        self.assertTrue(self.models("check")["ok"])
        copy = FOLDER / "changed.db"
        shutil.copy(self.db, copy)
        db = sqlite3.connect(copy)
        with self.assertRaisesRegex(sqlite3.IntegrityError, "append-only"):
            db.execute("UPDATE entry SET body = '{}' WHERE seq = 2")
        guard = db.execute("SELECT sql FROM sqlite_master WHERE name = 'entry_is_never_changed'").fetchone()[0]
        db.execute("DROP TRIGGER entry_is_never_changed")
        db.execute("UPDATE entry SET body = replace(body, 'run', 'ran') WHERE seq = 2")
        db.execute(guard)
        db.commit()
        run = call("models", "check", "--ledger", copy)
        self.assertEqual(run.returncode, 3)
        self.assertIn("entry 2", run.stdout)

    def test_an_evaluation_is_not_lost_where_the_ledger_cannot_be_written(self):
        broken = FOLDER / "broken.db"
        broken.write_text("no database " * 100)
        run = call("evaluate", self.runs[0], "--ledger", broken, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertIsNone(report["trials"]["count"])
        self.assertIn("not counted", report["trials"]["reason"])
        self.assertIn("broken.db", report["trials"]["reason"])
        self.assertIn("not counted", run.stderr)
        self.assertEqual(report["deflated"], {})
        self.assertIn("Not counted", self.ok("evaluate", self.runs[0], "--ledger", "none").stdout)

    def test_what_is_not_there_is_said(self):
        for args, code, words in ((("show", "frist"), 3, "'first'"),
                                  (("show", "abc"), 3, "at least 6 digits"),
                                  (("history", "nobody"), 3, "never promoted"),
                                  (("promote", "first", "a/b"), 2, "letters"),
                                  (("list", "--ledger", FOLDER / "no.db"), 3, "no ledger yet")):
            run = call("models", *args, *([] if "--ledger" in args else ["--ledger", self.db]))
            self.assertEqual(run.returncode, code, (args, run.stderr))
            self.assertIn(words, run.stderr)


class WalkForward(Case):
    @classmethod
    def setUpClass(cls):
        cls.db = FOLDER / "walk.db"
        cls.plan = [*SMALL, "--set", "walkforward.train=6", "--set", "walkforward.valid=1", "--set",
                    "walkforward.test=2", "--set", "walkforward.max_folds=3"]
        cls.args = ["walkforward", *cls.plan, "--set", "train.epochs=1", "--ledger", cls.db, "-q", "--json"]
        cls.out = FOLDER / "walk"
        cls.done = call(*cls.args, "--out", cls.out)

    def test_three_folds_move_on_and_are_judged_as_one(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        report = json.loads(self.done.stdout)
        folds = report["folds"]
        self.assertEqual(len(folds), 3)
        for early, late in zip(folds, folds[1:]):
            self.assertEqual(late["valid_end"], early["test_end"])
            self.assertGreater(late["train_begin"], early["train_begin"])
        for fold in folds:
            lines = (self.out / fold["run"] / "scored-test.jsonl").read_text().splitlines()[1:]
            self.assertEqual(len(lines), fold["rows"])
        self.assertEqual(report["pooled"]["rows"], sum(f["rows"] for f in folds))
        mean = sum(f["rows"] * f["model"] for f in folds) / report["pooled"]["rows"]
        self.assertAlmostEqual(report["pooled"]["metrics"]["log_loss"]["value"], mean, places=9)
        self.assertEqual(report["better"], sum(f["gain"] > 0 for f in folds))
        self.assertEqual(report["pooled"]["trials"]["count"], 1)
        for name in ("walkforward.txt", "walkforward.svg", "walkforward-report.json"):
            self.assertGreater((self.out / name).stat().st_size, 500)
        self.assertIn("better than its best baseline in", (self.out / "walkforward.txt").read_text())

    def test_a_finished_fold_is_kept_and_one_that_was_cut_off_is_done_again(self):
        copy = FOLDER / "walk-again"
        shutil.copytree(self.out, copy, symlinks=True)
        state = json.loads((copy / "walkforward.json").read_text())
        state["folds"][1]["state"] = state["folds"][2]["state"] = "planned"
        (copy / "walkforward.json").write_text(json.dumps(state))
        for fold in ("fold-002", "fold-003"):  # one has its checkpoints
            (copy / fold / "result.json").unlink()
        shutil.rmtree(copy / "fold-003" / "checkpoints")  # cut off before the first checkpoint
        kept = (copy / "fold-001" / "metrics.jsonl").stat().st_mtime_ns
        again = call(*self.args, "--out", copy)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((copy / "fold-001" / "metrics.jsonl").stat().st_mtime_ns, kept)
        before, after = json.loads(self.done.stdout), json.loads(again.stdout)
        self.assertEqual(after["folds"], before["folds"])
        self.assertEqual(after["pooled"]["metrics"], before["pooled"]["metrics"])
        self.assertEqual(after["pooled"]["trials"]["count"], 1, "the same folds are the same trial")

    def test_another_configuration_does_not_go_on_there(self):
        run = call(*self.args, "--out", self.out, "--set", "train.batch_size=5")
        self.assertEqual(run.returncode, 2)
        self.assertIn("another configuration", run.stderr)

    def test_one_proof_is_kept_by_every_fold_and_refused_where_it_does_not_speak_of_one(self):
        proof, out = FOLDER / "walk-proof.json", FOLDER / "walk-proven"
        prove = call("features", "prove", *self.plan, "--points", 4, "--out", proof, "-q")
        self.assertEqual(prove.returncode, 0, prove.stderr)
        run = call(*self.args, "--proof", proof, "--require-proof", "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["leak_proof"], json.loads(proof.read_text())["sha256"])
        self.assertIn(report["leak_proof"], (out / "walkforward.txt").read_text())
        for fold in report["folds"]:
            self.assertEqual((out / fold["run"] / "leakproof.json").read_bytes(), proof.read_bytes())
        self.assertEqual([f["weights_sha256"] for f in report["folds"]],
                         [f["weights_sha256"] for f in json.loads(self.done.stdout)["folds"]])
        bundle = FOLDER / "walk-fold.fox"
        made = call("export", out / "fold-002", "--require-proof", "-o", bundle, "-q")
        self.assertEqual(made.returncode, 0, made.stderr)

        for code, words, folder, more in (
                (2, "--proof", FOLDER / "walk-none", ["--require-proof"]),
                (3, "[split]", FOLDER / "walk-none", ["--proof", proof, "--set", "walkforward.valid=2"]),
                (2, "no leak proof", self.out, ["--proof", proof]),
                (2, "another leak proof", out, [])):
            run = call(*self.args, *more, "--out", folder)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(words, run.stderr)
        self.assertFalse((FOLDER / "walk-none").exists())

    def test_data_too_short_is_said_before_anything_is_trained(self):
        run = call(*self.args, "--out", FOLDER / "long", "--set", "walkforward.train=500")
        self.assertEqual(run.returncode, 2)
        self.assertIn("the data has 16", run.stderr)


TUNE = ["tune", *SMALL, "--set", "train.epochs=2", "--set", "tune.trials=4", "--set",
        'tune.ranges=["train.schedule.lr = log(1e-4, 1e-2)", "model.d_state = choice(2, 4)"]', "-q", "--json"]


class Tune(Case):
    @classmethod
    def setUpClass(cls):
        cls.db = FOLDER / "tune.db"
        cls.out = FOLDER / "tune"
        cls.done = call(*TUNE, "--parallel", 2, "--out", cls.out, "--ledger", cls.db)

    def table(self, text):
        report = json.loads(text)
        return [{k: t[k] for k in ("trial", "values", "valid_loss", "rungs", "weights_sha256", "error")}
                for t in report["trials"]]

    def test_the_best_by_validation_is_ready_to_train_and_trials_are_counted(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        report = json.loads(self.done.stdout)
        self.assertEqual((report["looked_at"], report["failed"]), (4, 0))
        losses = {t["trial"]: t["valid_loss"] for t in report["trials"]}
        self.assertEqual(report["best"]["trial"], min(losses, key=losses.get))
        self.assertFalse(list(self.out.glob("trial-*/evaluation-*")), "the test part is not read")
        again = self.json("train", "--config", self.out / "best.toml", "--out", FOLDER / "best")
        self.assertEqual(again["weights_sha256"], report["best"]["weights_sha256"])
        trials = self.json("models", "trials", "--ledger", self.db)
        self.assertEqual([t["trials"] for t in trials], [4])
        for name in ("tune.txt", "tune.svg", "tune-report.json"):
            self.assertGreater((self.out / name).stat().st_size, 500)

    def test_killed_and_gone_on_with_gives_the_table_of_an_uninterrupted_search(self):
        out = FOLDER / "killed"
        args = [FOXHUNT, *map(str, TUNE), "--parallel", "2", "--out", str(out), "--ledger", "none"]
        for kill in range(2):
            child = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 300
            # In the middle of a trial: its folder is there, and not all are done.
            while time.monotonic() < deadline and child.poll() is None:
                if (out / f"trial-00{1 + 2 * kill}" / "config.resolved.toml").exists():
                    break
                time.sleep(0.01)
            time.sleep(0.2)
            child.send_signal(signal.SIGKILL)
            child.wait()
        last = call(*TUNE, "--parallel", 1, "--out", out, "--ledger", "none")
        self.assertEqual(last.returncode, 0, last.stderr)
        self.assertEqual(self.table(last.stdout), self.table(self.done.stdout))

    def test_halving_pauses_all_and_takes_the_better_half_on(self):
        out = FOLDER / "halving"
        run = call(*TUNE, "--set", "tune.method=halving", "--set", "tune.min_epochs=1", "--set", "tune.eta=2",
                   "--parallel", 2, "--out", out, "--ledger", "none")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["rungs"], [1, 2])
        first = {t["trial"]: t["rungs"][0]["loss"] for t in report["trials"]}
        on = {t["trial"] for t in report["trials"] if len(t["rungs"]) == 2}
        self.assertEqual(on, set(sorted(first, key=first.get)[:2]))
        # To pause is to change nothing: those that went on end as in the search that never paused.
        whole = {t["trial"]: t["weights_sha256"] for t in self.table(self.done.stdout)}
        for trial in report["trials"]:
            if trial["trial"] in on:
                self.assertEqual(trial["weights_sha256"], whole[trial["trial"]])

    def test_a_trial_that_fails_is_recorded_and_the_search_goes_on(self):
        ranges = 'tune.ranges=["windows.burn_in = choice(8, 64)"]'  # a burn-in of the whole window
        out = FOLDER / "failing"
        run = call(*TUNE[:-2], "--set", ranges, "--set", "tune.trials=6", "--set", "train.epochs=1", "--out", out,
                   "--ledger", "none", "-q", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertGreater(report["failed"], 0)
        self.assertEqual(report["failed"] + report["looked_at"], 6)
        for trial in report["trials"]:
            if trial["values"]["windows.burn_in"] == "64":
                self.assertIn("burn_in", trial["error"])
            else:
                self.assertIsNone(trial["error"])

    def test_a_wrong_range_is_said_with_file_line_and_nearest_name(self):
        config = FOLDER / "wrong.toml"
        config.write_text('[tune]\nranges = [\n  "train.schedul.lr = log(1e-4, 1e-2)",\n]\n')
        run = call("tune", *SMALL, "--config", config, "--out", FOLDER / "wrong")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("wrong.toml:3", run.stderr)
        self.assertIn("schedule", run.stderr)


if __name__ == "__main__":
    unittest.main()
