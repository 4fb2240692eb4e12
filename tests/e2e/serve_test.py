#!/usr/bin/env python3
"""Serving as an operator meets it: verify, files, pipes and rings, restarts, kills, a full output, metrics.

FOXHUNT_SERVE, RING_PRODUCER, RING_CONSUMER, MAKE_SAMPLE_BUNDLE and MAKE_TEST_BUNDLE name the programs; run from the project's folder.
"""
import array
import fcntl
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import urllib.error
import urllib.request

SERVE = os.environ["FOXHUNT_SERVE"]
PRODUCER = os.environ["RING_PRODUCER"]
CONSUMER = os.environ["RING_CONSUMER"]
MAKE = os.environ["MAKE_SAMPLE_BUNDLE"]
MAKE_ORDERS = os.environ["MAKE_TEST_BUNDLE"]
FOXHUNT = os.environ.get("FOXHUNT", "")
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
LIMIT = 60


def call(*args, **options):
    return subprocess.run([SERVE, *map(str, args)], capture_output=True, text=True, timeout=LIMIT, **options)


def start(*args, **options):
    return subprocess.Popen([str(a) for a in args], **options)


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("timed out: " + what)
        time.sleep(0.01)


class Patience:
    """How long to let a process live before it is stopped: at random, and longer after each stop that found it no further,
    so that a test ends on a machine of any speed, whatever a start costs there."""

    def __init__(self, rng, least, most, state):
        self.rng, self.least, self.most, self.state = rng, least, most, state
        self.factor, self.seen = 1.0, None

    def next(self):
        now = self.state.read_bytes() if self.state.exists() else b""
        if now == self.seen:
            self.factor *= 1.3
        self.seen = now
        return self.factor * self.rng.uniform(self.least, self.most)


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.bundle = cls.folder / "test.fox"
        cls.dbn = cls.folder / "plain.dbn"
        subprocess.run([MAKE, cls.bundle, "1", cls.dbn], check=True, capture_output=True, timeout=LIMIT)
        cls.whole = cls.folder / "whole.jsonl"
        run = call("serve", cls.bundle, "--in", SAMPLE, "--out", cls.whole, "--no-timing")
        assert run.returncode == 0, run.stderr
        cls.want = cls.whole.read_bytes()
        cls.lines = cls.want.splitlines(keepends=True)
        data = cls.dbn.read_bytes()
        cls.head = 8 + int.from_bytes(data[4:8], "little")  # metadata; records are 56 bytes
        cls.records = (len(data) - cls.head) // 56

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.made = []
        self.here = self.folder / self.id().rsplit(".", 1)[1]
        self.here.mkdir()

    def tearDown(self):
        for process in self.made:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        for name in pathlib.Path("/dev/shm").glob(f"fxtest-{os.getpid()}-*"):
            name.unlink()

    def ring(self, name):
        return f"fxtest-{os.getpid()}-{name}"

    def start(self, *args, **options):
        process = start(*args, **options)
        self.made.append(process)
        return process

    def serve(self, *args, **options):
        return self.start(SERVE, "serve", self.bundle, "--no-timing", *args, **options)

    # ---- verify and what a bundle is -------------------------------------------------------------------------------

    def test_the_program_links_no_torch(self):
        out = subprocess.run(["ldd", SERVE], capture_output=True, text=True, check=True).stdout
        self.assertIn("libstdc++", out)
        self.assertNotRegex(out, "torch|libc10|cuda|python")

    def test_verify_says_that_the_golden_rows_hold(self):
        run = call("verify", self.bundle, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertTrue(report["ok"])
        self.assertEqual(report["decision_flips"], 0)
        self.assertLess(report["max_difference"], 1e-5)
        self.assertGreater(report["rows"], 1000)
        self.assertRegex(report["model"], "^[0-9a-f]{64}$")
        for kernels in ("scalar", "avx2", "avx512"):
            forced = call("verify", self.bundle, "--json", "--kernels", kernels)
            if forced.returncode == 2:  # not on this machine
                continue
            self.assertEqual(forced.returncode, 0, forced.stderr + forced.stdout)
            self.assertTrue(json.loads(forced.stdout)["kernels"].startswith(kernels))

    def test_a_flipped_bit_is_refused_by_verify_and_by_serve(self):
        data = bytearray(self.bundle.read_bytes())
        rng = random.Random(4)
        broken = self.here / "broken.fox"
        for _ in range(20):
            at, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
            data[at] ^= bit
            broken.write_bytes(data)
            run = call("verify", broken, "--json")
            self.assertEqual(run.returncode, 3, f"byte {at}")
            self.assertFalse(json.loads(run.stdout)["ok"])
            data[at] ^= bit
        data[len(data) // 2] ^= 1
        broken.write_bytes(data)
        out = self.here / "out"
        run = call("serve", broken, "--in", SAMPLE, "--out", out)
        self.assertEqual(run.returncode, 3)
        self.assertIn("broken.fox", run.stderr)
        self.assertFalse(out.exists())

    def test_a_whole_file_whose_proof_does_not_hold_is_not_served(self):
        spoiled, out = self.here / "spoiled.fox", self.here / "out"
        subprocess.run([MAKE, spoiled, "1", self.here / "x.dbn", "spoiled"], check=True, capture_output=True)
        run = call("verify", spoiled, "--json")
        self.assertEqual(run.returncode, 3)
        report = json.loads(run.stdout)
        self.assertFalse(report["ok"])
        self.assertGreater(report["max_difference"], report["bound"]["difference"])
        self.assertIn("largest difference", report["what"])
        run = call("serve", spoiled, "--in", SAMPLE, "--out", out)
        self.assertEqual(run.returncode, 3)
        self.assertIn("is not served", run.stderr)
        self.assertFalse(out.exists())

    # ---- the same answers, wherever records come from and go ----------------------------------------------------------

    def test_lines_carry_event_time_engine_time_latency_and_model(self):
        out = self.here / "out"
        before = time.time()
        run = call("serve", self.bundle, "--in", SAMPLE, "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = out.read_text().splitlines()
        self.assertEqual(len(lines), len(self.lines))
        self.assertGreater(len(lines), self.records * 0.8)
        model = json.loads(call("verify", self.bundle, "--json").stdout)["model"]
        last = ""
        for line, bare in zip(lines, self.lines):
            answer = json.loads(line)
            self.assertLess(last, answer["time"])
            last = answer["time"]
            self.assertGreater(answer["latency_ns"], 0)
            self.assertEqual(answer["model"], model)
            stamp = answer.pop("engine_time")
            self.assertGreaterEqual(stamp, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(before)))
            answer.pop("latency_ns")
            self.assertEqual(answer, json.loads(bare))

    def test_standard_input_gives_the_bytes_of_a_file(self):
        for source in (SAMPLE, self.dbn):
            with open(source, "rb") as data:  # a file as standard input
                run = subprocess.run([SERVE, "serve", self.bundle, "--no-timing"], stdin=data, capture_output=True,
                                     timeout=LIMIT)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, self.want)
            cat = self.start("cat", source, stdout=subprocess.PIPE)  # a pipe
            run = subprocess.run([SERVE, "serve", self.bundle, "--no-timing"], stdin=cat.stdout, capture_output=True,
                                 timeout=LIMIT)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, self.want)

    def test_every_record_of_a_pipe_is_answered_before_the_next_one_is_written(self):
        data = self.dbn.read_bytes()
        process = self.serve("-q", stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        process.stdin.write(data[:self.head + 56 * 300])
        got = []
        while line := self.ready_line(process):  # all that can be answered, while the pipe stays open
            got.append(line)
        for i in range(300, 400):  # no session begins among them: every record has an answer
            process.stdin.write(data[self.head + 56 * i:self.head + 56 * (i + 1)])
            line = self.ready_line(process)
            self.assertTrue(line, f"record {i}")
            got.append(line)
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(process.wait(LIMIT), 0)
        self.assertEqual(got, self.lines[:len(got)])
        self.assertGreater(len(got), 350)

    @staticmethod
    def ready_line(process):
        """The next line, unless none comes for a second."""
        return process.stdout.readline() if select.select([process.stdout], [], [], 1)[0] else b""

    def test_a_ring_gives_the_bytes_of_a_file(self):
        for waiting in ("--block", "--spin"):
            records, answers = self.ring("r" + waiting), self.ring("a" + waiting)
            out = open(self.here / f"out{waiting}", "wb")
            consumer = self.start(CONSUMER, answers, self.bundle, "--no-timing", stdout=out)
            server = self.serve("--in", "shm:" + records, "--out", "shm:" + answers, waiting, "-q")
            producer = self.start(PRODUCER, SAMPLE, records)
            self.assertEqual(producer.wait(LIMIT), 0)
            self.assertEqual(server.wait(LIMIT), 0)
            self.assertEqual(consumer.wait(LIMIT), 0)
            out.close()
            self.assertEqual((self.here / f"out{waiting}").read_bytes(), self.want)
            self.assertFalse(pathlib.Path("/dev/shm", records).exists(), "who reads the end removes the ring")
            self.assertFalse(pathlib.Path("/dev/shm", answers).exists())

    # ---- restarts -----------------------------------------------------------------------------------------------------

    def test_a_run_cut_at_many_records_gives_the_bytes_of_a_whole_one(self):
        rng = random.Random(11)
        out, state = self.here / "out", self.here / "state"
        args = ("--out", out, "--state", state, "-q")
        cuts = 0
        data = self.dbn.read_bytes()
        # A growing file: each run takes what is there, so that cuts fall on chosen records.
        places = sorted({1, 2, 9, 10, 11, *(rng.randrange(self.records) for _ in range(40)), self.records})
        growing = self.here / "growing.dbn"
        for place in places:
            growing.write_bytes(data[:self.head + 56 * place])
            self.assertEqual(call("serve", self.bundle, "--no-timing", "--in", growing, *args).returncode, 0)
            cuts += 1
        self.assertEqual(out.read_bytes(), self.want)
        self.assertGreater(cuts, 30)
        again = call("serve", self.bundle, "--no-timing", "--in", growing, *args)  # nothing is left to do
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(out.read_bytes(), self.want)

    def test_sigterm_at_random_moments_loses_and_repeats_nothing(self):
        rng = random.Random(12)
        for source in ("file", "ring"):
            out, state = self.here / f"out-{source}", self.here / f"state-{source}"
            where = SAMPLE if source == "file" else "shm:" + self.ring("term")
            if source == "ring":
                producer = self.start(PRODUCER, SAMPLE, self.ring("term"), "--rate", 15000, "--slots", 512)
            stops, patience = 0, Patience(rng, 0.05, 0.4, state)
            while True:
                server = self.serve("--in", where, "--out", out, "--state", state, "-q")
                try:
                    code = server.wait(patience.next())
                except subprocess.TimeoutExpired:
                    server.send_signal(signal.SIGTERM)
                    code = server.wait(LIMIT)
                    stops += 1
                self.assertIn(code, (0, -signal.SIGTERM))  # the latter: before it could catch signals
                if out.exists() and len(out.read_bytes()) == len(self.want):
                    break
            self.assertEqual(out.read_bytes(), self.want, source)
            if source == "ring":
                self.assertEqual(producer.wait(LIMIT), 0)
                self.assertGreater(stops, 1)

    def test_sigterm_on_a_pipe_answers_everything_that_was_written(self):
        data = self.dbn.read_bytes()
        out, state = self.here / "out", self.here / "state"
        at = 0
        for place in (700, 701, 1500, 4000):
            server = self.serve("--out", out, "--state", state, "-q", stdin=subprocess.PIPE)
            server.stdin.write(data[:self.head] + data[self.head + 56 * at:self.head + 56 * place])
            server.stdin.flush()
            # the pipe is empty when everything was read
            wait_until("the pipe is read", lambda: self.unread(server.stdin) == 0)
            time.sleep(0.05)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(LIMIT), 0)
            at = place
        with open(self.dbn, "rb") as rest:
            rest.seek(self.head + 56 * at)
            body = rest.read()
        run = subprocess.run([SERVE, "serve", self.bundle, "--no-timing", "--out", out, "--state", state],
                             input=data[:self.head] + body, capture_output=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(out.read_bytes(), self.want)

    def test_sigterm_while_the_output_takes_nothing_keeps_every_record_that_was_read(self):
        data = self.dbn.read_bytes()
        answers, state = self.ring("read"), self.here / "state"
        args = ("--out", "shm:" + answers, "--ring-slots", 64, "--state", state, "-q")
        server = self.serve(*args, stdin=subprocess.PIPE)
        server.stdin.write(data[:self.head + 56 * 1000])  # less than a pipe holds
        server.stdin.flush()
        wait_until("the pipe is read", lambda: self.unread(server.stdin) == 0)
        time.sleep(0.2)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(LIMIT), 0)
        with open(self.here / "out", "wb") as out:
            consumer = self.start(CONSUMER, answers, self.bundle, "--no-timing", stdout=out)
        server = self.serve(*args, stdin=subprocess.PIPE)
        server.stdin.write(data[:self.head])
        server.stdin.write(data[self.head + 56 * 1000:])
        server.stdin.close()
        server.stdin = None
        self.assertEqual(server.wait(LIMIT), 0)
        self.assertEqual(consumer.wait(LIMIT), 0)
        self.assertEqual((self.here / "out").read_bytes(), self.want)

    @staticmethod
    def unread(pipe):
        size = array.array("i", [0])
        fcntl.ioctl(pipe.fileno(), termios.FIONREAD, size)
        return size[0]

    @staticmethod
    def was_done(ring, producer):
        """Killed behind its last work: the ring's name is gone, and one that starts now would make another and wait."""
        return producer.poll() is not None and not pathlib.Path("/dev/shm", ring).exists()

    def test_sigkill_goes_on_from_the_last_save_and_writes_nothing_twice(self):
        rng = random.Random(13)
        for source in ("file", "ring"):
            out, state = self.here / f"out-{source}", self.here / f"state-{source}"
            where = SAMPLE if source == "file" else "shm:" + self.ring("kill")
            if source == "ring":
                producer = self.start(PRODUCER, SAMPLE, self.ring("kill"), "--rate", 15000, "--slots", 512)
            kills, patience = 0, Patience(rng, 0.1, 0.6, state)
            while True:
                server = self.serve("--in", where, "--out", out, "--state", state, "--save-every", 150, "-q")
                try:
                    code = server.wait(patience.next())
                    self.assertEqual(code, 0)
                    break
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()
                    kills += 1
                    if source == "ring" and self.was_done(self.ring("kill"), producer):
                        break
            self.assertEqual(out.read_bytes(), self.want, source)
            if source == "ring":
                self.assertEqual(producer.wait(LIMIT), 0)
                self.assertGreater(kills, 1)

    def test_a_state_that_does_not_fit_is_refused(self):
        out, state = self.here / "out", self.here / "state"
        data = self.dbn.read_bytes()
        part = self.here / "part.dbn"
        part.write_bytes(data[:self.head + 56 * 2000])
        args = ("serve", self.bundle, "--no-timing", "--out", out, "--state", state)
        self.assertEqual(call(*args, "--in", part).returncode, 0)
        before = state.read_bytes(), out.read_bytes()

        def refused(text, *more, code=3):
            run = call(*args, *more)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(text, run.stderr)
            self.assertEqual((state.read_bytes(), out.read_bytes()), before)

        other = bytearray(data)
        other[self.head + 56 * 1000 + 50] ^= 1  # a volume within what was consumed
        changed = self.here / "changed.dbn"
        changed.write_bytes(other)
        refused("not those that the state has seen", "--in", changed)
        short = self.here / "short.dbn"
        short.write_bytes(data[:self.head + 56 * 1999])
        refused("holds 1999 records", "--in", short)
        refused("another filter", "--in", self.dbn, "--symbol", "ESZ3")
        refused("state is of weights fp32", "--in", self.dbn, "--weights", "int8")
        other_bundle = self.here / "other.fox"
        subprocess.run([MAKE, other_bundle, "2"], check=True, capture_output=True)
        run = call("serve", other_bundle, "--in", self.dbn, "--out", out, "--state", state)
        self.assertEqual(run.returncode, 3)
        self.assertIn("state is of model", run.stderr)
        out.write_bytes(before[1][:-10] + b"x" * 10)
        before = before[0], out.read_bytes()
        refused("another line ends", "--in", self.dbn)
        out.write_bytes(before[1][:-10])
        before = before[0], out.read_bytes()
        refused("bytes", "--in", self.dbn)
        broken = bytearray(before[0])
        broken[len(broken) // 2] ^= 1
        state.write_bytes(broken)
        before = state.read_bytes(), before[1]
        refused("state", "--in", self.dbn)

    def test_one_state_serves_one_process(self):
        args = ("--out", self.here / "out", "--state", self.here / "state")
        self.serve(*args, "-q", stdin=subprocess.PIPE)
        wait_until("the lock is there", lambda: (self.here / "state.lock").exists())
        time.sleep(0.2)
        run = call("serve", self.bundle, "--in", SAMPLE, *args)
        self.assertEqual(run.returncode, 2)
        self.assertIn("another process serves", run.stderr)

    def test_a_live_stream_goes_on_where_a_history_ended(self):
        data = self.dbn.read_bytes()
        history, out, state = self.here / "history.dbn", self.here / "out", self.here / "state"
        history.write_bytes(data[:self.head + 56 * 5000])
        live = self.here / "live.dbn"
        live.write_bytes(data[:self.head] + data[self.head + 56 * 5000:])
        args = ("serve", self.bundle, "--no-timing", "--out", out, "--state", state)
        self.assertEqual(call(*args, "--in", history).returncode, 0)
        run = call(*args, "--in", live)
        self.assertEqual(run.returncode, 3, "another file is not taken for the one before")
        self.assertIn("--continues", run.stderr)
        self.assertEqual(call(*args, "--in", live, "--continues").returncode, 0)
        self.assertEqual(out.read_bytes(), self.want)

    def test_a_file_is_not_its_own_output(self):
        mine = self.here / "mine.dbn"
        shutil.copy(self.dbn, mine)
        run = call("serve", self.bundle, "--in", mine, "--out", mine)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(mine.read_bytes(), self.dbn.read_bytes())

    # ---- back-pressure ------------------------------------------------------------------------------------------------

    def test_a_full_output_ring_stalls_serving_and_loses_nothing(self):
        answers, records = self.ring("slow"), self.ring("slowin")
        log = open(self.here / "log", "w+")
        server = self.serve("--in", SAMPLE, "--out", "shm:" + answers, "--ring-slots", 64, stderr=log)
        wait_until("the stall is said", lambda: "takes no more" in (self.here / "log").read_text())
        self.assertIsNone(server.poll(), "serving waits")
        run = subprocess.run([CONSUMER, answers, self.bundle, "--no-timing"], capture_output=True, timeout=LIMIT)
        self.assertEqual(server.wait(LIMIT), 0)
        self.assertEqual(run.stdout, self.want)
        self.assertRegex((self.here / "log").read_text(), "took nothing [0-9]+ times")
        log.close()

    def test_an_answer_that_was_not_taken_is_kept_in_the_state(self):
        answers, state = self.ring("kept"), self.here / "state"
        args = ("--in", SAMPLE, "--out", "shm:" + answers, "--ring-slots", 64, "--state", state)
        log = open(self.here / "log", "w+")
        server = self.serve(*args, stderr=log)
        wait_until("the stall is said", lambda: "takes no more" in (self.here / "log").read_text())
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(LIMIT), 0)
        log.close()
        consumer = self.start(CONSUMER, answers, self.bundle, "--no-timing", stdout=subprocess.PIPE)
        server = self.serve(*args, "-q")
        out, _ = consumer.communicate(timeout=LIMIT)
        self.assertEqual(server.wait(LIMIT), 0)
        self.assertEqual(out, self.want)

    def test_sigkill_with_rings_on_both_sides_gives_no_answer_twice(self):
        rng = random.Random(14)
        records, answers, state = self.ring("kin"), self.ring("kout"), self.here / "state"
        out = open(self.here / "out", "wb")
        consumer = self.start(CONSUMER, answers, self.bundle, "--no-timing", stdout=out)
        producer = self.start(PRODUCER, SAMPLE, records, "--rate", 15000, "--slots", 512)
        kills, patience = 0, Patience(rng, 0.1, 0.5, state)
        while True:
            server = self.serve("--in", "shm:" + records, "--out", "shm:" + answers, "--state", state, "-q")
            try:
                self.assertEqual(server.wait(patience.next()), 0)
                break
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                kills += 1
                if self.was_done(records, producer):
                    break
        self.assertEqual(consumer.wait(LIMIT), 0)
        self.assertEqual(producer.wait(LIMIT), 0)
        out.close()
        self.assertEqual((self.here / "out").read_bytes(), self.want)
        self.assertGreater(kills, 1)

    def test_without_a_state_answers_that_nobody_takes_are_an_error(self):
        server = self.serve("--in", SAMPLE, "--out", "shm:" + self.ring("lost"), "--ring-slots", 64,
                            stderr=subprocess.PIPE)
        wait_until("the ring is full", lambda: b"takes no more" in server.stderr.readline())
        server.send_signal(signal.SIGTERM)
        self.assertIn(b"are lost", server.stderr.read())
        self.assertEqual(server.wait(LIMIT), 1)

    def test_a_pipe_whose_reader_left_ends_serving_with_an_error(self):
        server = self.serve("--in", SAMPLE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        server.stdout.readline()
        server.stdout.close()
        self.assertEqual(server.wait(LIMIT), 1)
        server.stdout = None
        self.assertIn(b"lost", server.stderr.read())

    # ---- rings --------------------------------------------------------------------------------------------------------

    def test_a_second_consumer_and_a_second_producer_are_refused(self):
        records = self.ring("two")
        self.serve("--in", "shm:" + records, "--out", self.here / "out", "-q")
        wait_until("the ring is there", lambda: pathlib.Path("/dev/shm", records).exists())
        time.sleep(0.2)
        run = call("serve", self.bundle, "--in", "shm:" + records, "--out", self.here / "other")
        self.assertEqual(run.returncode, 2)
        self.assertIn("has a consumer already", run.stderr)
        self.start(PRODUCER, SAMPLE, records, "--rate", 10, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        run = subprocess.run([PRODUCER, SAMPLE, records], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 2)
        self.assertIn("has a producer already", run.stderr)

    def test_a_producer_that_dies_is_noticed_and_the_next_one_goes_on(self):
        records, out, log = self.ring("dies"), self.here / "out", self.here / "log"
        part = self.here / "part.dbn"
        data = self.dbn.read_bytes()
        with open(log, "w") as stderr:
            server = self.serve("--in", "shm:" + records, "--out", out, stderr=stderr)
        part.write_bytes(data[:self.head + 56 * 3000])
        producer = self.start(PRODUCER, part, records, "--rate", 1000, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        producer.kill()
        producer.wait()
        wait_until("the loss is said", lambda: "producer is gone" in log.read_text())
        self.assertIsNone(server.poll())
        # It sends from its start again: what was answered is out of order now, and counted.
        self.assertEqual(self.start(PRODUCER, SAMPLE, records, stderr=subprocess.DEVNULL).wait(LIMIT), 0)
        self.assertEqual(server.wait(LIMIT), 0)
        self.assertEqual(out.read_bytes(), self.want)
        self.assertRegex(log.read_text(), "duplicates|out of order")

    def orders(self):
        """A bundle of order events, its feed as a DBN fragment, and what is answered to the file."""
        subprocess.run([MAKE_ORDERS, self.here / "made"], check=True, capture_output=True, timeout=LIMIT)
        bundle, fragment = self.here / "made/orders/model.fox", self.here / "orders.dbn"
        names, *lines = (self.here / "made/orders/orders.csv").read_text().splitlines()
        with open(fragment, "wb") as out:
            for line in lines:
                f = dict(zip(names.split(","), line.split(",")))
                out.write(struct.pack("<BBHIQQqIBBccQiI", 14, 0xA0, int(f["publisher_id"]), int(f["instrument_id"]),
                                      int(f["event_ns"]), int(f["order_id"]), int(f["price"]), int(f["size"]),
                                      int(f["flags"]), int(f["channel_id"]), f["action"].encode(), f["side"].encode(),
                                      int(f["received_ns"]), int(f["delta_ns"]), int(f["sequence"])))
        want = self.here / "want.jsonl"
        run = call("serve", bundle, "--in", fragment, "--out", want, "--no-timing")
        self.assertEqual(run.returncode, 0, run.stderr)
        ready = sum(line.startswith("ready") for line in (self.here / "made/orders/answers.csv").read_text().splitlines())
        self.assertEqual(len(want.read_bytes().splitlines()), ready)
        self.assertGreater(ready, 150)
        return bundle, fragment, want.read_bytes()

    def test_order_events_between_rings_give_the_bytes_of_a_file(self):
        bundle, fragment, want = self.orders()
        records, answers = self.ring("orders"), self.ring("oanswers")
        consumer = self.start(CONSUMER, answers, bundle, "--no-timing", stdout=subprocess.PIPE)
        server = self.start(SERVE, "serve", bundle, "--in", "shm:" + records, "--out", "shm:" + answers, "-q",
                            "--ring-slots", 64, stderr=subprocess.PIPE)
        producer = self.start(PRODUCER, fragment, records, "--slots", 64, stderr=subprocess.PIPE)
        got, _ = consumer.communicate(timeout=LIMIT)
        self.assertEqual(got, want)
        self.assertEqual((server.wait(LIMIT), producer.wait(LIMIT)), (0, 0))
        self.assertIn(b"3000 records", producer.stderr.read())

    def test_order_events_from_a_ring_survive_kills(self):
        bundle, fragment, want = self.orders()
        records, out, state = self.ring("okill"), self.here / "out", self.here / "state"
        producer = self.start(PRODUCER, fragment, records, "--rate", 3000, "--slots", 64, stderr=subprocess.PIPE)
        patience = Patience(random.Random(5), 0.05, 0.4, state)
        kills = 0
        while True:
            server = self.start(SERVE, "serve", bundle, "--in", "shm:" + records, "--out", out, "--state", state,
                                "--no-timing", "-q")
            try:
                self.assertEqual(server.wait(patience.next() if kills < 8 else LIMIT), 0)
                break
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                kills += 1
                if self.was_done(records, producer):
                    break
        self.assertEqual(producer.wait(LIMIT), 0)
        self.assertEqual(out.read_bytes(), want)
        self.assertGreater(kills, 0)

    def test_a_ring_of_the_other_records_is_refused_by_name(self):
        bundle, fragment, _ = self.orders()
        bars, orders = self.ring("bars"), self.ring("orders")
        for ring, file, reader, text in ((bars, SAMPLE, bundle, "it holds bars, expected order events"),
                                         (orders, fragment, self.bundle, "it holds order events, expected bars")):
            producer = self.start(PRODUCER, file, ring, "--slots", 16, stderr=subprocess.PIPE)
            wait_until("the ring is there", lambda: pathlib.Path("/dev/shm", ring).exists())
            run = call("serve", reader, "--in", "shm:" + ring)
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn(text, run.stderr)
            self.assertIn(ring, run.stderr)
            self.assertIsNone(producer.poll(), "the producer waits for one that fits")
            run = subprocess.run([PRODUCER, fragment if file == SAMPLE else SAMPLE, ring], capture_output=True, text=True,
                                 timeout=LIMIT)
            self.assertEqual(run.returncode, 3)
            self.assertIn("a ring of another kind", run.stderr)

    def test_a_full_ring_is_told_to_a_producer_that_does_not_wait(self):
        run = subprocess.run([PRODUCER, SAMPLE, self.ring("full"), "--full", "fail", "--slots", "16"],
                             capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 1)
        self.assertIn("full behind record 16", run.stderr)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    @unittest.skipIf("thread" in os.environ.get("SANITIZED", ""), "the thread sanitizer calls the system itself")
    def test_ten_thousand_more_records_between_rings_make_no_call_of_the_system(self):
        data = self.dbn.read_bytes()
        calls = []
        for n in (2000, 12000):
            records, answers = self.ring(f"in{n}"), self.ring(f"out{n}")
            part = self.here / f"{n}.dbn"
            part.write_bytes(data[:self.head + 56 * n])
            subprocess.run([PRODUCER, part, records, "--slots", "16384"], check=True, capture_output=True, timeout=LIMIT)
            trace = self.here / f"{n}.trace"
            # A leak check cannot run beside strace.
            subprocess.run(["strace", "-f", "-qq", "-o", trace, SERVE, "serve", self.bundle, "--in", "shm:" + records,
                            "--out", "shm:" + answers, "--ring-slots", "16384", "--spin", "-q"],
                           check=True, capture_output=True, timeout=LIMIT, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            calls.append(trace.read_text().splitlines())
        # A node of the selector's map for each new day may make the heap grow once.
        self.assertLessEqual(len(calls[1]) - len(calls[0]), 1, calls[1][-20:])

    # ---- the process --------------------------------------------------------------------------------------------------

    def test_metrics_count_what_happened(self):
        data = self.dbn.read_bytes()
        log = open(self.here / "log", "w+")
        server = self.serve("--metrics", 0, "--out", self.here / "out", stdin=subprocess.PIPE, stderr=log)
        server.stdin.write(data[:self.head + 56 * 1000])
        server.stdin.flush()
        port = []
        wait_until("the page", lambda: port.extend(re.findall(r"127\.0\.0\.1:(\d+)/metrics",
                                                               (self.here / "log").read_text())) or port)

        def page(path="/metrics"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port[0]}{path}", timeout=10) as answer:
                return answer.read().decode()

        wait_until("all records", lambda: "foxhunt_input_records_total 1000\n" in page())
        time.sleep(0.05)
        text = page()
        values = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                self.assertRegex(line, r'^[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+$')
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        ready = values['foxhunt_records_total{status="ready"}']
        self.assertEqual(ready, values["foxhunt_answers_total"])
        self.assertEqual(ready, values["foxhunt_latency_seconds_count"])
        self.assertEqual(ready, values['foxhunt_latency_seconds_bucket{le="+Inf"}'])
        self.assertGreater(ready, 800)
        self.assertEqual(sum(v for n, v in values.items() if n.startswith("foxhunt_records_total")), 1000)
        self.assertIn("foxhunt_model_info{model=", text)
        with self.assertRaises(urllib.error.HTTPError):
            page("/other")
        # Someone who connects and says nothing holds nobody up for long, and serving not at all.
        silent = socket.create_connection(("127.0.0.1", int(port[0])))
        server.stdin.write(data[self.head + 56 * 1000:self.head + 56 * 1200])
        server.stdin.flush()
        wait_until("the page is back", lambda: "foxhunt_input_records_total 1200\n" in page())
        silent.close()
        server.stdin.close()
        server.stdin = None
        self.assertEqual(server.wait(LIMIT), 0)
        log.close()

    def test_pin_and_lock_say_whether_they_were_granted(self):
        cpu = sorted(os.sched_getaffinity(0))[-1]
        out = self.here / "out"
        run = call("serve", self.bundle, "--no-timing", "--in", SAMPLE, "--out", out, "--pin", cpu, "--lock-memory")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"pinned to CPU {cpu}", run.stderr)
        self.assertRegex(run.stderr, "memory (not )?locked")
        self.assertEqual(out.read_bytes(), self.want)
        run = call("serve", self.bundle, "--no-timing", "--in", SAMPLE, "--out", out, "--pin", 900)
        self.assertIn("not pinned to CPU 900", run.stderr)

    def test_a_second_contract_in_a_stream_is_not_answered_silently(self):
        csv = self.here / "mixed.csv"
        csv.write_text("ts_event,open,high,low,close,volume,symbol\n"
                       "2013-10-07T14:00:00Z,1700,1701,1699,1700,5,ESZ3\n"
                       "2013-10-07T14:00:00Z,1700,1701,1699,1700,5,ESH4\n")
        run = call("serve", self.bundle, "--in", csv)
        self.assertEqual(run.returncode, 3)
        self.assertIn("mixed", run.stderr)

    @unittest.skipUnless(FOXHUNT, "the big program needs LibTorch")
    def test_the_big_program_hands_over(self):
        run = subprocess.run([FOXHUNT, "verify", self.bundle, "--json"], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(json.loads(run.stdout)["ok"])
        out = self.here / "out"
        run = subprocess.run([FOXHUNT, "serve", self.bundle, "--no-timing", "--in", SAMPLE, "--out", out],
                             capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(out.read_bytes(), self.want)
        self.assertIn("--save-every", subprocess.run([FOXHUNT, "serve", "--help"], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
