#!/usr/bin/env python3
"""foxhunt data convert, merge and split, and foxhunt bench dbn, as a person or a script uses them.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample and tests/data). Parquet is compared with pyarrow
where both pyarrow and the library are there.
"""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

FOXHUNT = os.environ["FOXHUNT"]
SAMPLE = "data/es-sample/es-ohlcv-1m.dbn.zst"
TRADES = "tests/data/dbn/test_data.trades.v3.dbn.zst"
MBO = "tests/data/dbn/test_data.mbo.v3.dbn"
DEFINITION = "tests/data/dbn/test_data.definition.v1.dbn.zst"


def records_of(path):
    """The bytes behind the metadata."""
    raw = pathlib.Path(path).read_bytes()
    return raw[8 + struct.unpack_from("<I", raw, 4)[0]:]


class DataFiles(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def ok(self, *args):
        run = subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def refused(self, code, text, *args):
        run = subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(text, run.stderr)

    def test_there_and_back_is_the_same_file(self):
        for name in (MBO, TRADES, DEFINITION):
            v3 = self.folder / "v3.dbn"
            self.ok("data", "convert", name, "--out", v3, "--overwrite")
            for style in ([], ["--pretty"], ["--symbols"]):
                table, back = self.folder / "table.csv.zst", self.folder / "back.dbn"
                self.ok("data", "convert", v3, "--out", table, "--overwrite", *style)
                self.ok("data", "convert", table, "--out", back, "--metadata-of", v3, "--overwrite")
                self.assertEqual(v3.read_bytes(), back.read_bytes(), (name, style))
        self.assertEqual(pathlib.Path(MBO).read_bytes(), self.read_v3(MBO))

    def read_v3(self, name):
        self.ok("data", "convert", name, "--out", self.folder / "again.dbn", "--overwrite")
        return (self.folder / "again.dbn").read_bytes()

    def test_what_was_done_is_said_as_json(self):
        done = json.loads(self.ok("data", "convert", MBO, "--out", self.folder / "a.csv", "--json").stdout)
        self.assertEqual((done["records"], done["by_type"], done["dataset"]), (2, {"mbo": 2}, "GLBX.MDP3"))
        self.assertEqual(done["start"], "2020-12-28T13:00:00.000704060Z")

    def test_nothing_is_replaced_or_converted_to_nothing(self):
        out = self.folder / "a.csv"
        self.ok("data", "convert", MBO, "--out", out)
        self.refused(2, "exists already", "data", "convert", MBO, "--out", out)
        self.refused(3, "no record of the type", "data", "convert", MBO, "--out", self.folder / "b.csv", "--schema", "trades")
        self.refused(2, "says no form", "data", "convert", MBO, "--out", self.folder / "b.xlsx")
        self.refused(3, "a.csv:2:1: ts_recv 'x' is no whole number", "data", "convert", self.broken(out), "--dataset", "X", "--out",
                     self.folder / "b.dbn")
        self.assertFalse((self.folder / "b.dbn").exists())

    def broken(self, path):
        lines = path.read_text().splitlines()
        lines[1] = "x" + lines[1][lines[1].index(","):]
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_days_merged_again_are_the_original(self):
        plain = self.folder / "all.dbn"
        self.ok("data", "convert", SAMPLE, "--out", plain)
        done = json.loads(self.ok("data", "split", plain, "--by", "day", "--out", self.folder / "days", "--json").stdout)
        files = [part["file"] for part in done["parts"]]
        self.assertGreater(len(files), 5)
        self.refused(3, "exists already", "data", "split", plain, "--by", "day", "--out", self.folder / "days")
        merged = json.loads(self.ok("data", "merge", *reversed(files), "--out", self.folder / "back.dbn", "--json").stdout)
        self.assertEqual(merged["records"], done["records"])
        self.assertEqual(records_of(plain), records_of(self.folder / "back.dbn"))

    def test_a_part_that_is_not_there_is_an_error(self):
        self.refused(3, "no record of ESZ9", "data", "split", MBO, "--by", "symbol", "--only", "ESZ9", "--out", self.folder / "x")

    def test_files_of_two_datasets_are_not_merged(self):
        self.refused(3, "the dataset", "data", "merge", MBO, DEFINITION, "--out", self.folder / "x.dbn")

    def test_the_benchmark_says_what_it_measured_and_what_is_missing(self):
        run = self.ok("bench", "dbn", MBO, "--least-records", 1000, "--repeats", 1, "--peer-python", "/no/such/python", "--json")
        rows = json.loads(run.stdout)["rows"]
        self.assertEqual([row["way"] for row in rows], ["zstd", "decode_zstd", "decode", "csv"])
        for row in rows:
            self.assertGreater(row["records_per_s"], 0)
            self.assertIsNone(row["peer_records_per_s"])
            self.assertGreater(row["zstd_only_s"], 0)
        self.assertIn("the official decoder is left out", run.stderr)

    def test_parquet_is_what_pyarrow_reads(self):
        out = self.folder / "a.parquet"
        run = subprocess.run([FOXHUNT, "data", "convert", TRADES, "--out", out], capture_output=True, text=True)
        if run.returncode == 2 and "scripts/setup" in run.stderr:
            self.skipTest("built without Arrow")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.ok("data", "convert", out, "--out", self.folder / "b.dbn")
        self.ok("data", "convert", TRADES, "--out", self.folder / "a.dbn")
        self.assertEqual((self.folder / "a.dbn").read_bytes(), (self.folder / "b.dbn").read_bytes())
        try:
            import pyarrow.parquet
        except ImportError:
            self.skipTest("no pyarrow here")
        table = pyarrow.parquet.read_table(out)
        self.assertEqual(str(table.schema.field("ts_recv").type), "timestamp[ns, tz=UTC]")
        self.assertEqual(str(table.schema.field("price").type), "int64")
        self.assertEqual(table.schema.field("price").metadata[b"scale"], b"9")
        row = {name: table.column(name)[0] for name in table.column_names}
        self.assertEqual(row["price"].as_py(), 3720250000000)
        self.assertEqual(row["ts_recv"].value, 1609160400099150057)
        self.assertEqual((row["action"].as_py(), row["side"].as_py(), row["sequence"].as_py()), ("T", "A", 1170380))


if __name__ == "__main__":
    unittest.main(verbosity=2)
