#!/usr/bin/env python3
"""`bench train` and `check device` as programs: files, fields, Ctrl-C and going on, refusals. FOXHUNT is the program."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SMALL = ["--set", "model.d_model=16", "--set", "model.n_layer=1", "--set", "model.headdim=16", "--set", "model.d_state=4",
         "--set", "windows.length=24", "--set", "windows.burn_in=4", "--set", "train.batch_size=2"]


def command(folder, *arguments):
    return [FOXHUNT, "bench", "train", "--devices", "cpu", "--out", str(folder), *SMALL, *map(str, arguments)]


def run(arguments, code=0):
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=240)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}\n{done.stderr}\n{done.stdout}")
    return done


class BenchTrain(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name) / "bench"

    def visits(self):
        return (self.folder / "bench-train.visits.jsonl").read_text().splitlines()

    def test_one_case_leaves_figures_with_intervals_and_a_second_call_measures_nothing(self):
        call = command(self.folder, "--budget", "5s", "--batches", 2, "--precision", "fp32", "--kernels", "native", "--width", 1,
                       "--price-per-hour", 2.5, "--symbols", "ES,ZN", "--days", 7, "--bar", "1m", "--epochs", 3, "--json")
        told = json.loads(run(call).stdout)
        self.assertEqual(told, json.loads((self.folder / "bench-train.json").read_text()))
        (case,) = told["cases"]
        self.assertEqual(case["case"], "cpu/fp32/native/2")
        for field in ("references_a_step", "step_seconds_normalised", "step_seconds", "step_seconds_p5", "step_seconds_p95", "step_seconds_min", "rows_per_second",
                      "windows_per_second", "peak_bytes"):
            figure = case[field]
            self.assertLessEqual(figure["low"], figure["value"], field)
            self.assertGreaterEqual(figure["high"], figure["value"], field)
        self.assertEqual((case["loss"]["finite"], case["loss"]["falls"], case["loss"]["repeat_difference"]), (True, True, 0))
        work = told["task"]["symbols"]
        self.assertEqual([w["symbol"] for w in work], ["ES", "ZN"])
        steps = 3 * sum(-(-w["windows"] // 2) for w in work)
        self.assertEqual(case["task"]["steps"], steps)
        self.assertAlmostEqual(case["task"]["hours"]["value"], steps * case["step_seconds_normalised"]["value"] / 3600, places=9)
        program = told["reference"]["cpu"]["program_seconds"]
        self.assertGreater(program["low"], 0)
        self.assertAlmostEqual(case["step_seconds_normalised"]["value"], case["references_a_step"]["value"] * program["value"])
        self.assertAlmostEqual(case["task"]["cost"]["value"], 2.5 * case["task"]["hours"]["value"], places=9)
        if not told["machine"]["gpus"]:
            self.assertTrue(told["machine"]["cuda_reason"])
        for name in ("bench-train.md", "bench-train.html"):
            self.assertIn("cpu/fp32/native/2", (self.folder / name).read_text())
        before = self.visits()
        again = json.loads(run(call).stdout)
        self.assertEqual(self.visits(), before)
        self.assertEqual(again["cases"], told["cases"])

    def test_interrupted_it_keeps_what_there_is_and_goes_on(self):
        call = command(self.folder, "--budget", "20s", "--batches", "1,2", "--precision", "fp32", "--width", 1)
        process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = self.folder / "bench-train.visits.jsonl"
        end = time.monotonic() + 60
        while time.monotonic() < end and not (journal.exists() and len(self.visits()) > 3):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("goes on", err)
        self.assertFalse(json.loads((self.folder / "bench-train.json").read_text())["complete"])
        kept = self.visits()
        # A kill in the middle of a line.
        journal.write_text("\n".join(kept) + '\n{"case":"cpu/fp32/nat')
        done = run([*call, "--json"])
        self.assertIn("goes on behind", done.stderr)
        self.assertEqual(self.visits()[: len(kept)], kept)
        told = json.loads(done.stdout)
        self.assertTrue(told["complete"])
        self.assertTrue(all(case["visits"] > 0 for case in told["cases"]), told["cases"])  # how many, the machine decides

    def test_refusals_name_what_is_wrong(self):
        for arguments, word in ((["--devices", "tpu"], "tpu"), (["--devices", "cuda:7"], "cuda:7"), (["--precision", "fp8"], "fp8"),
                                (["--kernels", "magic"], "magic"), (["--symbols", "XX"], "XX"), (["--bar", "1y"], "1y"),
                                (["--budget", "soon"], "soon"), (["--from", "1970-01-01"], "holidays")):
            call = [FOXHUNT, "bench", "train", "--out", str(self.folder), *SMALL, *arguments]
            self.assertIn(word, run(call, code=2).stderr)
        blocked = pathlib.Path(self.temporary.name) / "file"
        blocked.write_text("")
        self.assertIn("file", run(command(blocked / "below", "--budget", "1s"), code=1).stderr)


class CheckDevice(unittest.TestCase):
    def test_every_configuration_passes_on_meta(self):
        files = sorted(pathlib.Path("configs").glob("*.toml"))
        self.assertTrue(files)
        for path in files:
            told = json.loads(run([FOXHUNT, "check", "device", "--config", path, "--no-baseline", "--json"]).stdout)
            self.assertTrue(told["passed"], path)
            names = {t["name"] for t in told["programs"][0]["tensors"]}
            self.assertIn("backbone.layers.0.mixer.dt_bias", names)

    def test_the_old_command_line_still_compares_back_ends(self):
        brief = ["--batch", "1", "--tokens", "8"]
        plain = run([FOXHUNT, "check", *brief, "--json"]).stdout
        named = run([FOXHUNT, "check", "backends", *brief, "--json"]).stdout
        self.assertEqual(json.loads(plain), json.loads(named))
        self.assertIn("tpu", run([FOXHUNT, "check", "device", "--device", "tpu"], code=2).stderr)


if __name__ == "__main__":
    unittest.main()
