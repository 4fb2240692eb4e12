#!/usr/bin/env python3
"""The official DBN decoder (PyPI: databento-dbn), timed beside foxhunt by `foxhunt bench dbn`.

    peer.py PLAIN.dbn PACKED.dbn.zst

Both files are read into memory once. A line `run WAY` on stdin is answered by one line of JSON: the seconds of the call alone and
what it counted (records, or bytes of CSV). decode and decode_zstd build one Python object a record, which is the package's only
public way to the values; csv goes from bytes to bytes and builds none.
"""
import json
import sys
import time


def main():
    plain, packed = (open(path, "rb").read() for path in sys.argv[1:3])
    try:
        import databento_dbn as dbn
    except ImportError as error:
        for _ in sys.stdin:
            print(json.dumps({"error": f"{error}; install it with scripts/setup --dbn-peer"}), flush=True)
        return

    class Counted:
        """A file that counts what is written; the package asks for the other methods, and does not call them."""

        def __init__(self):
            self.bytes = 0

        def write(self, data):
            self.bytes += len(data)
            return len(data)

        def flush(self):
            pass

        def read(self, size=-1):
            return b""

        def seek(self, offset, whence=0):
            return 0

    def decode(data, compression):
        decoder = dbn.DBNDecoder(compression=compression, upgrade_policy=dbn.VersionUpgradePolicy.AS_IS)
        start = time.perf_counter()
        records = decoder.write_and_decode(data)
        seconds = time.perf_counter() - start
        return seconds, sum(not isinstance(one, dbn.Metadata) for one in records)

    def to_csv(data):
        out = Counted()
        start = time.perf_counter()
        coder = dbn.Transcoder(out, dbn.Encoding.CSV, dbn.Compression.NONE, pretty_px=False, pretty_ts=False, map_symbols=False)
        coder.write(data)
        coder.flush()
        return time.perf_counter() - start, out.bytes

    ways = {"decode": lambda: decode(plain, dbn.Compression.NONE), "decode_zstd": lambda: decode(packed, dbn.Compression.ZSTD),
            "csv": lambda: to_csv(plain)}
    for line in sys.stdin:
        try:
            seconds, answer = ways[line.split()[1]]()
            print(json.dumps({"seconds": seconds, "answer": answer}), flush=True)
        except Exception as error:  # the benchmark shows it and ends
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


if __name__ == "__main__":
    main()
