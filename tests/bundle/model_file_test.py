#!/usr/bin/env python3
"""docs/model_file.md is right: the bundle in tests/data reads as the page says, by hand and with Python's safetensors."""
import hashlib
import json
import pathlib
import re
import struct
import unittest

try:
    import numpy
    from safetensors import safe_open
except ImportError:
    safe_open = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tests/data/bundle/tiny.fox"

# The same numbers are in bundle_test.cpp.
HEAD_BIAS = [0.6531186103820801, -0.6455702185630798, 0.13737602531909943]
ROW_3 = [1, 7, 1381154580000000000, 60000000000,
         1700750000000, 1701000000000, 1700000000000, 1700000000000, -1]
READY = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1]
OUTPUTS_0 = [1.9651590585708618, 1.8189046382904053, 2.146544933319092]


def read(data):
    """Metadata and tensors as (shape, flat values), with nothing but the standard library."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    letters = {"F32": "f", "I64": "q", "U8": "B"}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        letter = letters[entry["dtype"]]
        count = (end - begin) // struct.calcsize(letter)
        tensors[name] = entry["shape"], list(struct.unpack_from(f"<{count}{letter}", data, 8 + length + begin))
    return metadata, tensors


class ModelFile(unittest.TestCase):
    def setUp(self):
        self.data = FILE.read_bytes()
        self.metadata, self.tensors = read(self.data)

    def test_holds_the_numbers_that_were_written(self):
        self.assertEqual(self.tensors["head.bias"], ([3], HEAD_BIAS))
        shape, bars = self.tensors["foxhunt.golden.bars"]
        self.assertEqual(shape, [12, 9])
        self.assertEqual(bars[27:36], ROW_3)
        self.assertEqual(self.tensors["foxhunt.golden.ready"], ([12], READY))
        shape, outputs = self.tensors["foxhunt.golden.outputs"]
        self.assertEqual(shape, [sum(READY), 3])
        self.assertEqual(outputs[:3], OUTPUTS_0)

    def test_states_the_digest_of_its_bytes(self):
        stated = self.metadata["foxhunt.sha256"]
        zeros = re.sub(rb'("foxhunt\.sha256":")[0-9a-f]{64}"', rb"\g<1>" + b"0" * 64 + b'"', self.data, count=1)
        self.assertEqual(len(zeros), len(self.data))
        self.assertEqual(hashlib.sha256(zeros).hexdigest(), stated)

    def test_has_every_entry_that_the_page_lists(self):
        page = (ROOT / "docs/model_file.md").read_text()
        listed = set(re.findall(r"^\| `(foxhunt\.[a-z0-9_.]+)`", page, re.M))
        own = {k for k in list(self.metadata) + list(self.tensors) if k.startswith("foxhunt.")}
        of_books = {"foxhunt.book", "foxhunt.golden.events"}  # where rows are made of order events
        self.assertEqual(listed, own | {"foxhunt.latency", "foxhunt.leakproof"} | of_books)  # until measured, proven
        certificate = json.loads(self.metadata["foxhunt.certificate"])
        self.assertEqual(set(re.findall(r"^\| `([a-z_]+)` \| (?:number|text)", page, re.M)), set(certificate))

    @unittest.skipIf(safe_open is None, "the Python package safetensors (with numpy) is not installed")
    def test_is_the_same_to_pythons_safetensors(self):
        with safe_open(FILE, "np") as file:
            self.assertEqual(file.metadata(), self.metadata)
            self.assertEqual(set(file.keys()), set(self.tensors))
            for name, (shape, values) in self.tensors.items():
                tensor = file.get_tensor(name)
                self.assertEqual(list(tensor.shape), shape)
                self.assertEqual(tensor.dtype, {"foxhunt.golden.bars": numpy.int64,
                                                "foxhunt.golden.ready": numpy.uint8}.get(name, numpy.float32))
                self.assertEqual(tensor.ravel().tolist(), values, name)


if __name__ == "__main__":
    unittest.main()
