#!/usr/bin/env python3
"""The command line as a person or a script uses it: verbs, files, exit codes, and that all paths agree.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample).
"""
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
CONFIG = "configs/mamba2_es.toml"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name  # what doctor keeps stays out of the user's folder
os.environ.setdefault("FOXHUNT_LEDGER", CACHE.name + "/ledger.db")  # and so does what train and evaluate record


def call(*args, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600, **options)


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.run_dir = cls.folder / "run"
        cls.train = call("train", "--config", CONFIG, "--test", "--out", cls.run_dir, "--json", "--seed", 3)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ok(self, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def refused(self, code, text, *args, **options):
        run = call(*args, **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(text, run.stderr)
        return run

    # ---- train -----------------------------------------------------------------------------------------------------

    def test_train_leaves_a_complete_run_folder(self):
        self.assertEqual(self.train.returncode, 0, self.train.stderr)
        report = json.loads(self.train.stdout)
        self.assertEqual(report["epochs"], 2)
        for name in ("config.toml", "config.resolved.toml", "env.json", "data.lock", "metrics.jsonl", "log.txt"):
            self.assertTrue((self.run_dir / name).is_file(), name)
        for name in ("best", "last"):
            self.assertTrue((self.run_dir / name / "model.safetensors").is_file(), name)
            self.assertTrue((self.run_dir / name / "DONE").is_file(), name)
            self.assertFalse(os.path.isabs(os.readlink(self.run_dir / name)), "links must survive a move")
        self.assertTrue(list(self.run_dir.glob("checkpoints/step-*/model.safetensors")))
        lines = [json.loads(line) for line in (self.run_dir / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([line["epoch"] for line in lines], [1, 2])
        for key in ("train_loss", "valid_loss", "grad_norm_mean", "dt_at_limit_share", "largest_state", "parameter_norm"):
            self.assertTrue(math.isfinite(lines[-1][key]), key)
        env = json.loads((self.run_dir / "env.json").read_text())
        self.assertEqual(env["seed"], 3)
        self.assertRegex(env["binary_sha256"], "^[0-9a-f]{64}$")
        lock = json.loads((self.run_dir / "data.lock").read_text())
        self.assertGreater(lock[0]["bars"], 19000)

    def test_progress_has_no_carriage_return_off_a_terminal(self):
        self.assertNotIn("\r", self.train.stderr)

    def test_one_seed_gives_one_hash_and_another_seed_another(self):
        again = call("train", "--config", CONFIG, "--test", "--out", self.folder / "again", "--json", "--seed", 3, "--quiet")
        other = call("train", "--config", CONFIG, "--test", "--out", self.folder / "other", "--json", "--seed", 4, "--quiet")
        first = json.loads(self.train.stdout)["weights_sha256"]
        self.assertEqual(json.loads(again.stdout)["weights_sha256"], first)
        self.assertNotEqual(json.loads(other.stdout)["weights_sha256"], first)
        self.assertEqual(again.stderr, "", "--quiet is quiet")

    def test_the_resolved_configuration_trains_the_same_model(self):
        run = self.ok("train", "--config", self.run_dir / "config.resolved.toml", "--out", self.folder / "resolved", "--json")
        self.assertEqual(json.loads(run.stdout)["weights_sha256"], json.loads(self.train.stdout)["weights_sha256"])

    def test_an_interruption_saves_and_exits_130(self):
        out = self.folder / "interrupted"
        process = subprocess.Popen([FOXHUNT, "train", "--config", CONFIG, "--out", str(out), "--epochs", "1000", "--quiet"],
                                   stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not (out / "metrics.jsonl").exists() or not (out / "metrics.jsonl").read_text():
            self.assertLess(time.monotonic(), deadline, "no epoch was finished")
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("saved in", errors)
        self.assertTrue((out / "last" / "DONE").is_file())
        state = json.loads((out / "last" / "state.json").read_text())
        self.assertIn(f"interrupted at step {state['step']}", errors)

    def test_a_full_disk_is_named_and_earlier_checkpoints_stay(self):
        out = self.folder / "full"

        def no_large_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        run = self.refused(1, "model.safetensors", "train", "--config", CONFIG, "--test", "--out", out, "--quiet",
                           preexec_fn=no_large_files)
        self.assertIn("cannot be written", run.stderr)
        self.assertEqual(list(out.glob("checkpoints/*")), [], "no half checkpoint stays")

    # ---- evaluate and predict --------------------------------------------------------------------------------------

    def test_predict_bar_by_bar_equals_evaluate_in_batches(self):
        batch_file = self.folder / "batch.jsonl"
        report = json.loads(self.ok("evaluate", self.run_dir, "--json", "--quiet", "--predictions", batch_file).stdout)
        batch = [json.loads(line) for line in batch_file.read_text().splitlines()]
        stream = [json.loads(line) for line in self.ok("predict", self.run_dir, "--data", SAMPLE).stdout.splitlines()]
        by_bar = {(line["symbol"], line["bar_start"]): line for line in stream}
        self.assertEqual(len(by_bar), len(stream), "one answer a bar")
        self.assertGreaterEqual(len(batch), report["rows"])
        self.assertGreater(report["rows"], 1000)
        worst = 0.0
        for line in batch:
            other = by_bar[line["symbol"], line["bar_start"]]
            for key in ("p_down", "p_flat", "p_up"):
                worst = max(worst, abs(line[key] - other[key]))
            self.assertEqual(line["close"], other["close"])
        # 1e-5: float32 sums in another order, over up to a day of rows.
        self.assertLess(worst, 1e-5)

    def test_predict_streams_a_prefix_to_the_same_answers(self):
        whole = self.ok("predict", self.run_dir, "--data", SAMPLE).stdout.splitlines()
        run = subprocess.Popen([FOXHUNT, "predict", str(self.run_dir), "--data", SAMPLE], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        first = [run.stdout.readline().rstrip("\n") for _ in range(50)]
        run.kill()
        run.communicate()
        self.assertEqual(first, whole[:50])

    def test_evaluate_names_every_metric_with_interval_and_every_baseline(self):
        report = json.loads(self.ok("evaluate", self.run_dir, "--json", "--quiet", "--baselines").stdout)
        for name in ("log_loss", "accuracy", "macro_f1", "mcc", "brier", "rank_ic"):
            metric = report["metrics"][name]
            self.assertLessEqual(metric["lo"], metric["value"] + 1e-9, name)
            self.assertLessEqual(metric["value"], metric["hi"] + 1e-9, name)
            for baseline in ("prior", "persistence", "logistic", "gru"):
                self.assertIn(name, report["baselines"][baseline])
        self.assertNotIn("NaN", json.dumps(report))
        text = self.ok("evaluate", self.run_dir, "--quiet").stdout
        self.assertRegex(text, "(?i)edge")
        for chart in ("loss.svg", "calibration-test.svg", "hours-test.svg"):
            self.assertTrue((self.run_dir / chart).read_text().startswith("<svg"), chart)

    def test_a_moved_run_still_answers(self):
        moved = self.folder / "moved"
        shutil.copytree(self.run_dir, moved, symlinks=True)
        self.ok("evaluate", moved, "--json", "--quiet")

    def test_other_heads_train_and_answer(self):
        for kind, key in (("regression", "value"), ("quantiles", "q0.5")):
            out = self.folder / kind
            self.ok("train", "--config", CONFIG, "--test", "--out", out, "--quiet", "--set", "label.kind=return",
                    "--set", f"head.kind={kind}")
            self.assertIn(key, json.loads(self.ok("predict", out, "--data", SAMPLE).stdout.splitlines()[-1]))
            report = json.loads(self.ok("evaluate", out, "--json", "--quiet").stdout)
            self.assertGreater(report["rows"], 1000)

    def test_bf16_trains(self):
        run = self.ok("train", "--config", CONFIG, "--test", "--out", self.folder / "bf16", "--json", "--quiet",
                      "--set", "train.precision=bf16")
        full = [json.loads(line) for line in (self.run_dir / "metrics.jsonl").read_text().splitlines()]
        # 2 %: eight bits of mantissa in the products, two epochs.
        self.assertLess(abs(json.loads(run.stdout)["best_valid_loss"] - min(line["valid_loss"] for line in full)), 0.02)

    # ---- inspect -----------------------------------------------------------------------------------------------------

    def test_inspect_reports_every_head_and_column_and_writes_only_the_picture(self):
        before = sorted(str(path) for path in self.run_dir.rglob("*"))
        picture = self.folder / "state.svg"
        run = self.ok("inspect", self.run_dir, "--json", "--quiet", "--svg", picture)
        report = json.loads(run.stdout)
        self.assertGreater(report["rows"], 2000)
        self.assertEqual(len(report["layers"]), report["n_layer"])
        for layer in report["layers"]:
            self.assertEqual(len(layer["heads"]), report["n_heads"])
            self.assertEqual([len(group) for group in layer["groups"]], [report["d_state"]])
            self.assertAlmostEqual(sum(head["energy"] for head in layer["heads"]), 1)
            for head in layer["heads"]:
                self.assertAlmostEqual(math.exp(-1 / head["memory_bars"]), head["decay"])
                steps = [head["dt"][key] for key in ("min", "p10", "median", "p90", "max")]
                self.assertEqual(steps, sorted(steps))
        self.assertTrue(picture.read_text().startswith("<svg"))
        self.assertEqual(self.ok("inspect", self.run_dir, "--json", "--quiet").stdout, run.stdout, "the same again")
        few = json.loads(self.ok("inspect", self.run_dir, "--json", "--quiet", "--rows", 100, "--split", "train").stdout)
        self.assertEqual((few["rows"], few["split"]), (100, "train"))
        self.assertIn("Layer 0", self.ok("inspect", self.run_dir, "--quiet").stdout)
        self.assertEqual(sorted(str(path) for path in self.run_dir.rglob("*")), before)

    def test_a_pruned_run_is_evaluated_and_predicts_within_the_bound(self):
        out = self.folder / "pruned"
        report = json.loads(self.ok("inspect", self.run_dir, "--prune", 0.01, "--out", out, "--json", "--quiet").stdout)
        self.assertEqual(report, json.loads((out / "pruned.json").read_text()))
        old, new = report["before"], report["after"]
        self.assertLess(new["d_state"], old["d_state"])
        self.assertLessEqual(new["valid_loss"], old["valid_loss"] + 0.01)
        self.assertLess(new["step"]["bytes_per_step"], old["step"]["bytes_per_step"])
        self.assertEqual(report["trials"][-1], {"d_state": new["d_state"], "valid_loss": new["valid_loss"]})
        self.assertTrue(all(trial["valid_loss"] > old["valid_loss"] + 0.01 for trial in report["trials"][:-1]))
        for run, expected in ((self.run_dir, old), (out, new)):
            score = json.loads(self.ok("evaluate", run, "--split", "valid", "--json", "--quiet").stdout)
            # 1e-6: the same float32 outputs, summed in float32 there and in float64 here.
            self.assertAlmostEqual(score["metrics"]["log_loss"]["value"], expected["valid_loss"], delta=2e-6)
        self.assertEqual(report["from"]["weights_sha256"], json.loads(self.train.stdout)["weights_sha256"])
        answers = self.ok("predict", out, "--data", SAMPLE).stdout.splitlines()
        self.assertEqual(len(answers), len(self.ok("predict", self.run_dir, "--data", SAMPLE).stdout.splitlines()))
        again = json.loads(self.ok("inspect", out, "--json", "--quiet").stdout)
        self.assertEqual(again["d_state"], new["d_state"])
        self.assertEqual(again["step"], new["step"])
        resolved = self.ok("config", "show", "--config", out / "config.resolved.toml").stdout
        self.assertIn(f"d_state = {new['d_state']}", resolved)

    def test_pruning_that_cannot_be_is_refused_and_leaves_nothing(self):
        out = self.folder / "refused"
        small = self.folder / "small"
        self.ok("train", "--config", CONFIG, "--test", "--out", small, "--quiet", "--set", "model.d_state=1")
        self.refused(5, "no smaller state", "inspect", small, "--prune", 1, "--out", out)
        self.refused(2, "may rise by 0 or more", "inspect", self.run_dir, "--prune=-1", "--out", out)
        self.refused(2, "the test rows judge", "inspect", self.run_dir, "--prune", 1, "--out", out, "--split", "test")
        self.refused(2, "--out", "inspect", self.run_dir, "--prune", 1)
        self.assertFalse(out.exists())
        self.refused(2, "already holds a run", "inspect", self.run_dir, "--prune", 1, "--out", small)
        self.refused(2, "is the run itself", "inspect", self.run_dir, "--prune", 1, "--out", self.run_dir, "--overwrite")
        self.ok("inspect", self.run_dir, "--prune", 1, "--out", small, "--overwrite", "--quiet")
        self.assertTrue((small / "pruned.json").is_file())
        self.refused(3, "is no run folder", "inspect", "configs")

    # ---- what is refused -------------------------------------------------------------------------------------------

    def test_both_back_ends_train_to_the_same_loss_and_threads_change_nothing(self):
        def train(name, *more):
            out = self.folder / name
            return json.loads(self.ok("train", "--config", CONFIG, "--test", "--out", out, "--json", *more).stdout)
        native = train("by-native", "--kernels", "native", "--set", "train.threads=1")
        threads = train("by-threads", "--set", "train.threads=3")
        aten = train("by-aten", "--kernels", "aten")
        self.assertEqual(native["weights_sha256"], threads["weights_sha256"])
        self.assertNotEqual(native["weights_sha256"], aten["weights_sha256"], "another order of sums")
        # two epochs of float32 in another order of sums
        self.assertAlmostEqual(native["best_valid_loss"], aten["best_valid_loss"], delta=1e-4)

    def test_bench_ssd_reports_what_it_promises(self):
        bench = json.loads(self.ok("bench", "ssd", "--shape", "layer", "--repeats", 1, "--json").stdout)
        (row,) = bench["rows"]
        for key in ("native_ms", "aten_ms", "floor_ms", "tokens_per_s"):
            self.assertGreater(row[key], 0, key)
        self.assertEqual((row["shape"], row["threads"], row["precision"]), ("layer", 1, "fp32"))
        self.assertIn("native_peak_bytes", row)
        self.assertIn("aten_peak_bytes", row)
        # the same three steps from the same weights
        self.assertAlmostEqual(row["native_loss"], row["aten_loss"], delta=1e-3)
        self.refused(2, "unknown shape", "bench", "ssd", "--shape", "huge")
        self.refused(2, "unknown precision", "bench", "ssd", "--precision", "fp8")

    def test_usage_errors_exit_2(self):
        self.refused(2, "", "trian")
        self.refused(2, "nearest valid name: 'd_model'", "train", "--config", CONFIG, "--set", "model.d_mdoel=64")
        self.refused(2, "is outside", "train", "--config", CONFIG, "--set", "model.d_state=0")
        run = self.refused(2, "headdim", "train", "--config", CONFIG, "--out", self.folder / "x",
                           "--set", "model.headdim=48", "--set", "train.a_min=2000")
        self.assertIn("train.a_min", run.stderr, "all errors at once")
        self.refused(2, "already holds a run", "train", "--config", CONFIG, "--out", self.run_dir)

    def test_cuda_without_a_gpu_ends_at_once_with_the_reason(self):
        doctor = json.loads(self.ok("doctor", "--json").stdout)
        if doctor["cuda"]["available"]:
            self.skipTest("this machine has a GPU")
        out = self.folder / "cuda"
        run = self.refused(2, "cuda", "train", "--config", CONFIG, "--device", "cuda", "--out", out)
        self.assertLess(len(run.stderr), 1000, "the reason, not a stack")
        self.assertFalse(out.exists(), "nothing is begun")

    def test_data_errors_exit_3(self):
        garbage = self.folder / "garbage.dbn"
        garbage.write_bytes(b"DBN\x03" + b"\x00" * 40)
        for bad, text in ((garbage, "garbage.dbn"), ("README.md", "README.md")):
            self.refused(3, text, "train", "--config", CONFIG, "--set", f'data.files=["{bad}"]',
                         "--out", self.folder / "bad", "--overwrite")
        self.refused(3, "is no run folder", "evaluate", "configs")
        changed = self.folder / "changed"
        shutil.copytree(self.run_dir, changed, symlinks=True)
        lock = (changed / "data.lock").read_text()
        (changed / "data.lock").write_text(lock.replace('"sha256": "', '"sha256": "0'))
        self.refused(3, "SHA-256 differs", "evaluate", changed)

    # ---- doctor ----------------------------------------------------------------------------------------------------

    def test_doctor_measures_once_and_gives_a_reason_for_each_choice(self):
        cache = self.folder / "doctor-cache"
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        first = json.loads(self.ok("doctor", "--json", env=env).stdout)
        stored = list((cache / "foxhunt").iterdir())
        self.assertEqual([path.name for path in stored], [f"machine-{first['cpu']['fingerprint']}.json"])
        self.assertTrue(first["bandwidth"]["measured_now"])
        again = json.loads(self.ok("doctor", "--json", env=env).stdout)
        self.assertFalse(again["bandwidth"].pop("measured_now"))
        first["bandwidth"].pop("measured_now")
        self.assertEqual(again, first, "the same machine, the same record, the same choices")
        rates = first["bandwidth"]
        self.assertGreater(rates["l2"]["gb_per_s"], 0)
        self.assertGreaterEqual(1.1 * rates["l1"]["gb_per_s"], rates["l2"]["gb_per_s"])
        choices = first["choices"]
        for model in ("default_hft", "standard"):
            self.assertIn(choices[model]["chunk"]["value"], (16, 32, 64, 128))
            self.assertLessEqual(choices[model]["lanes"]["value"], choices[model]["batch"])
            for key in ("chunk", "lanes"):
                self.assertGreater(len(choices[model][key]["reason"]), 20)
        latency = choices["latency"]
        self.assertEqual(latency["budget_us"], 5.0)
        hft = latency["default_hft"]
        # bytes over GB/s, in microseconds
        self.assertAlmostEqual(hft["floor_us"], hft["moved_bytes"] / latency["floor_gb_per_s"] / 1e3, places=6)
        self.assertGreater(hft["realistic_us"], hft["floor_us"])
        text = self.ok("doctor", "--budget-us", 2, env=env).stdout
        self.assertIn("within 2 us on one core", text)
        self.assertIn(str(stored[0]), text)
        self.refused(2, "budget", "doctor", "--budget-us", 0, env=env)

    def test_doctor_replaces_a_damaged_record_and_works_without_a_home(self):
        cache = self.folder / "doctor-damaged"
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self.ok("doctor", env=env)
        stored = next((cache / "foxhunt").iterdir())
        stored.write_text(stored.read_text()[:100])
        report = json.loads(self.ok("doctor", "--json", env=env).stdout)
        self.assertTrue(report["bandwidth"]["measured_now"])
        self.assertIn("cannot be used", report["bandwidth"]["note"])
        self.assertFalse(json.loads(self.ok("doctor", "--json", env=env).stdout)["bandwidth"]["measured_now"])
        self.assertTrue(json.loads(self.ok("doctor", "--json", "--measure", env=env).stdout)["bandwidth"]["measured_now"])
        homeless = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME")}
        run = self.ok("doctor", env=homeless)
        self.assertIn("not stored: neither XDG_CACHE_HOME nor HOME", run.stdout)

    def test_doctor_obeys_a_forced_instruction_set_or_names_the_choices(self):
        report = json.loads(self.ok("doctor", "--json", env={**os.environ, "FOXHUNT_FORCE_ISA": "scalar"}).stdout)
        self.assertEqual(report["choices"]["kernels"], {"value": "scalar", "reason": "forced by name"})
        self.refused(2, "choose from: ", "doctor", env={**os.environ, "FOXHUNT_FORCE_ISA": "avx9000"})

    # ---- data, config ----------------------------------------------------------------------------------------------

    def test_inspect_counts_and_converts_back_and_forth(self):
        facts = json.loads(self.ok("data", "inspect", SAMPLE, "--json").stdout)
        self.assertEqual((facts["schema"], facts["version"]), ("ohlcv-1m", 3))
        self.assertEqual(facts["records"], sum(facts["by_rtype"].values()))
        self.assertGreater(facts["records"], 19000)
        copy = self.folder / "copy.dbn"
        self.ok("data", "convert", SAMPLE, "--out", copy)
        again = json.loads(self.ok("data", "inspect", copy, "--json").stdout)
        for key in ("records", "symbols", "start", "end", "by_rtype"):
            self.assertEqual(facts[key], again[key], key)

    def test_every_configuration_of_the_project_loads(self):
        for path in sorted(pathlib.Path("configs").glob("*.toml")):
            self.ok("config", "show", "--config", path)

    def test_the_page_of_keys_is_what_the_program_says(self):
        page = pathlib.Path("docs/configuration.md").read_text()
        self.assertIn(self.ok("config", "keys", "--markdown").stdout.strip(), page,
                      "docs/configuration.md is stale: scripts/docs writes it anew")
        schema = json.loads(self.ok("config", "schema").stdout)
        self.assertIn("d_model", schema["properties"]["model"]["properties"])


class Example(unittest.TestCase):
    def test_the_example_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([os.environ["FOXHUNT_EXAMPLE"], "--test", "--out", f"{folder}/run"], capture_output=True,
                                 text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("p_up", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
