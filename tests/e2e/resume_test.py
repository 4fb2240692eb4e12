#!/usr/bin/env python3
"""A training that is killed, damaged, moved or changed, and gone on with: the same bits, or a refusal that says why.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder

# Two epochs of a small model, 15 steps each, at a rate so high that the second epoch is worse than the first: the outcome
# is what every later checkpoint has kept of it.
SMALL = ["--config", "configs/mamba2_es.toml", "--test", "--quiet", "--json", "--set", "model.d_model=16",
         "--set", "train.batch_size=16", "--set", "train.optimizer.weight_decay=0.1", "--set", "train.schedule.lr=0.15",
         "--set", "train.schedule.kind=constant", "--set", "train.schedule.warmup_fraction=0"]
KILLS = int(os.environ.get("FOXHUNT_KILLS", 10))  # for a thread count; two of them. The long test has 26
# What may differ between a run and the same run resumed: time and memory.
MEASURED = {"seconds", "rows_per_second", "resident_bytes", "resident_peak_bytes", "allocator_peak_bytes",
            "device_bytes", "device_peak_bytes"}


def call(*args, program=FOXHUNT, **options):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=600, **options)


def small(out, *more):
    return ["train", *SMALL, "--out", out, *more]


def metrics(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in MEASURED} for line in lines]


def outcome(text):
    report = json.loads(text)
    return {key: value for key, value in report.items() if key not in ("seconds", "run")}


def state(checkpoint):
    return json.loads((checkpoint / "state.json").read_text())


def steps_saved(run):
    """The newest step of which a checkpoint is in place; 0: none."""
    names = [path.name for path in run.glob("checkpoints/step-*")]
    return max((int(name[5:13]) for name in names), default=0)


class Resume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        begin = time.monotonic()
        cls.whole = cls.folder / "whole"
        train = call(*small(cls.whole, "--set", "train.checkpoint_every=5", "--set", "train.threads=1"))
        cls.seconds = time.monotonic() - begin
        assert train.returncode == 0, train.stderr
        assert os.readlink(cls.whole / "best") != os.readlink(cls.whole / "last"), "see SMALL"
        cls.expected = outcome(train.stdout)
        cls.paused = cls.folder / "paused"
        pause = call(*small(cls.paused, "--set", "train.checkpoint_every=5", "--set", "train.threads=1",
                            "--pause-after-epoch", 1))
        assert pause.returncode == 0, pause.stderr
        assert json.loads(pause.stdout)["stopped"] == "paused"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def copy_of(self, run, name):
        shutil.copytree(run, self.folder / name, symlinks=True)
        return self.folder / name

    def ok(self, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def refused(self, code, text, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(text, run.stderr)
        return run

    def resume(self, run, *more, **options):
        return self.ok("resume", run, "--quiet", "--json", *more, **options)

    def assert_whole(self, run, text):
        """`run` ended as the uninterrupted one did."""
        self.assertEqual(outcome(text), self.expected)
        self.assertEqual(outcome((run / "result.json").read_text()), self.expected)
        self.assertEqual(metrics(run), metrics(self.whole))
        for link in ("best", "last"):
            self.assertEqual(os.readlink(run / link), os.readlink(self.whole / link))
        self.assertEqual(state(run / "last")["weights_sha256"], state(self.whole / "last")["weights_sha256"])
        self.assertEqual([str(path) for path in run.rglob(".*tmp*")], [], "no remains")

    # ---- kills -----------------------------------------------------------------------------------------------------

    def kill_at_random(self, threads, seed):
        """Runs that are killed until KILLS is reached, each of them finished and compared."""
        draw = random.Random(seed)
        kills = runs = progressed = 0
        # Most of a run's time, so that kills hit loading, training, validation and saving; longer where several in a
        # row came to nothing, as on a slow machine.
        window = 0.8 * self.seconds
        while kills < KILLS:
            runs += 1
            out = self.folder / f"killed-{threads}-{runs}"
            every = draw.choice([1, 1, 3])  # 1: half of the time is spent saving
            begin = small(out, "--set", f"train.checkpoint_every={every}", "--set", f"train.threads={threads}")
            fruitless = 0
            text = None
            while text is None:
                before = steps_saved(out)
                begun = (out / "config.resolved.toml").exists()
                process = subprocess.Popen(
                    [FOXHUNT, *map(str, ["resume", out, "--quiet", "--json"] if begun else begin)],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                try:
                    stdout, stderr = process.communicate(timeout=None if kills >= KILLS else draw.uniform(0, window))
                    self.assertEqual(process.returncode, 0, stderr)
                    text = stdout
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills += 1
                    fruitless = 0 if steps_saved(out) > before else fruitless + 1
                    progressed += fruitless == 0
                    if fruitless >= 4:
                        window *= 1.5
                        fruitless = 0
            self.assertEqual(outcome(text), self.expected, f"run {runs}, seed {seed}")
            self.assertEqual(metrics(out), metrics(self.whole))
            self.assertEqual([str(path) for path in out.rglob(".*tmp*")], [], "no remains")
            self.assertEqual(state(out / "last")["weights_sha256"], state(self.whole / "last")["weights_sha256"])
        self.assertGreater(progressed, 0, "some kills must come after a checkpoint")
        print(f"{kills} kills over {runs} runs on {threads} threads, {progressed} behind a new checkpoint")

    def test_killed_at_any_instant_on_one_thread_the_bits_are_the_same(self):
        self.kill_at_random(1, 1)

    def test_killed_at_any_instant_on_two_threads_the_bits_are_the_same(self):
        self.kill_at_random(2, 2)

    def test_an_interruption_is_gone_on_with(self):
        out = self.folder / "interrupted"
        process = subprocess.Popen([FOXHUNT, *map(str, small(out, "--set", "train.checkpoint_every=1",
                                                             "--set", "train.threads=1"))],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 300
        while steps_saved(out) == 0 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        if process.returncode != 0:  # else it was faster
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn(f"foxhunt resume {out}", errors)
        self.assertEqual(outcome(self.resume(out).stdout), self.expected)
        self.assertEqual(metrics(out), metrics(self.whole))

    def test_killed_before_it_began_nothing_was_lost(self):
        out = self.copy_of(self.paused, "early")
        for path in out.iterdir():
            if path.name not in (".lock", "log.txt", "config.toml", "env.json"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self.refused(3, "nothing was lost", "resume", out)
        run = self.ok(*small(out, "--set", "train.checkpoint_every=5", "--set", "train.threads=1"))
        self.assert_whole(out, run.stdout)

    def test_killed_before_the_first_checkpoint_it_starts_again(self):
        for name, gone in (("no-checkpoint", []), ("no-lock", ["data.lock"])):
            out = self.copy_of(self.paused, name)
            shutil.rmtree(out / "checkpoints")
            for file in gone:
                (out / file).unlink()
            self.assert_whole(out, self.resume(out).stdout)

    # ---- pause, finish ---------------------------------------------------------------------------------------------

    def test_a_paused_run_goes_on_to_the_same_bits_on_any_number_of_threads(self):
        for threads in (1, 3):
            out = self.copy_of(self.paused, f"threads-{threads}")
            self.assertFalse((out / "result.json").exists())
            self.assert_whole(out, self.resume(out, "--threads", threads).stdout)

    def test_a_run_that_has_ended_shows_its_result(self):
        before = {path: path.stat().st_mtime_ns for path in self.whole.rglob("*")}
        self.assertEqual(outcome(self.resume(self.whole).stdout), self.expected)
        run = self.ok("resume", self.whole)
        self.assertIn("has ended already", run.stderr)
        self.assertIn(self.expected["weights_sha256"][:16], run.stdout)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.whole.rglob("*")}, before)

    def test_an_end_without_a_result_is_finished_without_training(self):
        out = self.copy_of(self.whole, "no-result")
        (out / "result.json").unlink()
        written = (out / "metrics.jsonl").read_bytes()
        self.assert_whole(out, self.resume(out).stdout)
        self.assertEqual((out / "metrics.jsonl").read_bytes(), written)

    def test_metrics_behind_the_checkpoint_are_cut_and_the_log_goes_on(self):
        out = self.copy_of(self.paused, "metrics")
        with open(out / "metrics.jsonl", "a") as file:
            file.write('{"epoch": 2, "torn')
        log = (out / "log.txt").read_text()
        self.assert_whole(out, self.resume(out).stdout)
        after = (out / "log.txt").read_text()
        self.assertTrue(after.startswith(log))
        self.assertIn("resumed", after[len(log):])

    # ---- damage ----------------------------------------------------------------------------------------------------

    def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(self):
        draw = random.Random(5)
        newest = self.paused / "last"
        for name in sorted(path.name for path in newest.iterdir()):
            out = self.copy_of(self.paused, f"damaged-{name}")
            file = (out / "last").resolve() / name
            damaged = file.parent.name
            os.truncate(file, draw.randrange(file.stat().st_size))
            run = self.resume(out)
            self.assertIn(damaged, run.stderr)
            self.assertIn(name, run.stderr)
            self.assert_whole(out, run.stdout)
            (line,) = [json.loads(line) for line in (out / "resumes.jsonl").read_text().splitlines()]
            self.assertEqual([skipped["checkpoint"] for skipped in line["skipped"]], [damaged])
            self.assertIn(name, line["skipped"][0]["damage"])
            self.assertLess(line["step"], int(damaged[5:]))
            self.assertTrue((out / "checkpoints" / f"damaged-{damaged}").is_dir(), "kept for whoever wants to look")

    def test_without_one_whole_checkpoint_it_starts_again(self):
        out = self.copy_of(self.paused, "all-damaged")
        for checkpoint in out.glob("checkpoints/step-*"):
            (checkpoint / "DONE").unlink()
        self.assert_whole(out, self.resume(out).stdout)

    def test_keeping_one_checkpoint_keeps_the_best_too(self):
        out = self.folder / "keep-one"
        self.ok(*small(out, "--set", "train.checkpoint_every=1", "--set", "train.keep_checkpoints=1"))
        self.assertEqual(len(list(out.glob("checkpoints/step-*"))), 2)
        self.assertTrue((out / "best" / "DONE").is_file())
        self.assertTrue(state(out / "best")["is_best"])
        report = json.loads((out / "result.json").read_text())
        self.assertEqual(state(out / "best")["weights_sha256"], report["weights_sha256"])
        # The newest one holds the same weights once more.
        self.assertEqual(state(out / "last")["best_epoch"], state(out / "best")["best_epoch"])

    def test_a_damaged_best_is_never_used_silently(self):
        out = self.copy_of(self.whole, "damaged-best")
        score = ("evaluate", out, "--json", "--quiet", "--split", "valid")
        whole = json.loads(self.ok(*score).stdout)["metrics"]
        with open(out / "best" / "model.safetensors", "r+b") as file:
            file.seek(-5, os.SEEK_END)
            file.write(b"\xff")
        run = self.ok(*score)
        self.assertIn("model.safetensors differs from what was written; the copy in", run.stderr)
        self.assertEqual(json.loads(run.stdout)["metrics"], whole)
        (out / "last" / "DONE").unlink()
        run = self.ok(*score)
        self.assertIn("DONE is missing", run.stderr)
        self.assertEqual(json.loads(run.stdout)["metrics"], whole, "the one before holds a copy, too")
        for checkpoint in out.glob("checkpoints/step-*"):
            if checkpoint.name != os.path.basename(os.readlink(out / "best")):
                (checkpoint / "DONE").unlink(missing_ok=True)
        run = self.refused(3, "no complete checkpoint", *score)
        self.assertIn("DONE is missing", run.stderr)
        self.assertIn("model.safetensors differs", run.stderr)

    def test_of_a_damaged_newest_the_one_before_is_evaluated_with_a_warning(self):
        out = self.copy_of(self.whole, "damaged-newest")
        (out / "last" / "DONE").unlink()
        run = self.ok("evaluate", out, "--json", "--quiet", "--split", "valid")
        self.assertIn("DONE is missing: the checkpoint was not finished; not used", run.stderr)

    def test_a_full_disk_stops_with_the_reason_and_loses_nothing(self):
        out = self.copy_of(self.paused, "full")

        def no_large_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        before = sorted(path.name for path in out.glob("checkpoints/*"))
        run = self.refused(1, "safetensors: cannot be written", "resume", out, "--quiet", preexec_fn=no_large_files)
        self.assertIn("what was saved before is intact", run.stderr)
        self.assertIn(f"foxhunt resume {out}", run.stderr)
        self.assertEqual(sorted(path.name for path in out.glob("checkpoints/*")), before)
        self.assert_whole(out, self.resume(out).stdout)

    # ---- what has changed ------------------------------------------------------------------------------------------

    def test_a_moved_run_with_moved_data_goes_on(self):
        data = self.folder / "sample.dbn.zst"
        shutil.copy(SAMPLE, data)
        out = self.folder / "to-move"
        self.ok(*small(out, "--set", f'data.files=["{data}"]', "--pause-after-epoch", 1))
        moved = self.folder / "elsewhere" / "moved"
        moved.parent.mkdir()
        out.rename(moved)
        data.rename(self.folder / "moved.dbn.zst")
        self.refused(3, "name its new place with --data", "resume", moved)
        run = self.resume(moved, "--data", self.folder / "moved.dbn.zst")
        self.assertEqual(json.loads(run.stdout)["run"], str(moved))
        self.assertEqual(outcome(run.stdout), self.expected)
        self.assertEqual(metrics(moved), metrics(self.whole))
        self.assertIn("moved.dbn.zst", (moved / "data.lock").read_text())

    def test_changed_data_is_refused_and_accepted_on_record(self):
        data = self.folder / "changing.dbn"
        self.ok("data", "convert", SAMPLE, "--out", data, "--quiet")
        out = self.folder / "data-changed"
        self.ok(*small(out, "--set", f'data.files=["{data}"]', "--pause-after-epoch", 1))
        content = bytearray(data.read_bytes())
        content[-8] ^= 1  # the volume of the last bar
        data.write_bytes(content)
        run = self.refused(3, str(data), "resume", out)
        self.assertIn("--accept-changes", run.stderr)
        self.assertFalse((out / "resumes.jsonl").exists(), "a refusal changes nothing")
        self.resume(out, "--accept-changes")
        (line,) = [json.loads(line) for line in (out / "resumes.jsonl").read_text().splitlines()]
        self.assertIn(str(data), line["accepted_changes"][0])

    def test_a_changed_configuration_is_refused_by_key_and_accepted_on_record(self):
        out = self.copy_of(self.paused, "config-changed")
        file = out / "config.resolved.toml"
        text = file.read_text()
        self.assertIn("weight_decay = 0.1", text)
        file.write_text(text.replace("weight_decay = 0.1", "weight_decay = 0.2"))
        self.refused(3, "train.optimizer.weight_decay is 0.2, was 0.1", "resume", out)
        self.resume(out, "--accept-changes", "--pause-after-epoch", 1)
        (line,) = [json.loads(line) for line in (out / "resumes.jsonl").read_text().splitlines()]
        self.assertIn("weight_decay", line["accepted_changes"][0])
        self.resume(out)  # accepted once is accepted
        self.assertNotEqual(state(out / "last")["weights_sha256"], state(self.whole / "last")["weights_sha256"])
        mixed = self.copy_of(self.paused, "config-first-line")
        file = mixed / "config.resolved.toml"
        file.write_text("# sha256 " + 64 * "0" + file.read_text()[73:])
        self.refused(3, "no longer has the hash of its first line", "resume", mixed)
        # Comments are no change.
        same = self.copy_of(self.paused, "config-comment")
        file = same / "config.resolved.toml"
        file.write_text(file.read_text() + "\n# looked at\n")
        self.assert_whole(same, self.resume(same).stdout)

    def test_another_program_is_refused_and_accepted_on_record(self):
        other = self.folder / "foxhunt-other"
        shutil.copy(FOXHUNT, other)
        with open(other, "ab") as file:
            file.write(b"another build")
        for name, checkpoints in (("binary", True), ("binary-at-start", False)):
            out = self.copy_of(self.paused, name)
            if not checkpoints:
                shutil.rmtree(out / "checkpoints")
            self.refused(3, "binary: SHA-256", "resume", out, program=str(other))
            run = self.resume(out, "--accept-changes", program=str(other))
            self.assert_whole(out, run.stdout)
            (line,) = [json.loads(line) for line in (out / "resumes.jsonl").read_text().splitlines()]
            self.assertEqual(len(line["accepted_changes"]), 1)

    # ---- two writers -----------------------------------------------------------------------------------------------

    def test_a_second_writer_is_refused_with_the_first_ones_process(self):
        out = self.folder / "busy"
        endless = [arg for arg in small(out, "--epochs", 1_000_000, "--set", "train.patience=0",
                                        "--set", "train.checkpoint_every=1") if arg != "--test"]
        process = subprocess.Popen([FOXHUNT, *map(str, endless)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 300
            while steps_saved(out) == 0 and time.monotonic() < deadline:
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            self.refused(2, f"process {process.pid}", "resume", out)
            self.refused(2, f"process {process.pid}", *small(out, "--overwrite"))
            self.assertIsNone(process.poll(), "the first goes on")
        finally:
            process.kill()
            process.wait()
        self.assertEqual(json.loads(self.resume(out, "--pause-after-epoch", 1).stdout)["stopped"], "paused")

    def test_what_is_no_run_is_refused(self):
        self.refused(3, "is no run folder", "resume", "configs")
        self.refused(3, "is no run folder", "resume", self.folder / "nowhere")
        self.refused(2, "run", "resume")
        self.refused(2, "already holds a run", *small(self.whole))


if __name__ == "__main__":
    unittest.main(verbosity=2)
