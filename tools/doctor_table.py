#!/usr/bin/env python3
"""What the data doctor finds on the reference data, as the table of docs/data.md.

    tools/doctor_table.py FOXHUNT SHARED

FOXHUNT is the program, SHARED the folder of the reference data. Every file that foxhunt can read is checked with the
options that its source asks for; Lean's zip files pass through tools/lean_csv.py first. Files of one kind with the same
findings share a row."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).parent
CSV = [  # pattern below data/, options
    ("futures/6e/*.csv.gz", ["--csv-time-column", "timestamp_utc", "--csv-symbol", "6EH4"]),
    ("futures/6e/*.csv.gz", ["--csv-time-column", "timestamp_utc", "--csv-symbol", "6EH4", "--csv-bar-stamp", "end"]),
    ("futures/es-event-bars/[dtv]*.csv", ["--csv-time-column", "date_time", "--csv-volume-column", "cum_vol", "--product", "ES"]),
    ("futures/es-event-bars/imb*.csv", ["--csv-time-column", "date_time", "--product", "ES"]),
    ("fx/nautilus/*-m1-*.csv", ["--csv-time-column", "timestamp", "--csv-volume-column", ""]),
    ("index-cfd/*_H1.csv", ["--csv-time-column", "Time", "--csv-volume-column", "Volume", "--csv-delimiter", "tab",
                            "--csv-bar-seconds", "3600"]),
    ("crypto/BTCUSD_M30.csv", ["--csv-time-column", "Time", "--csv-volume-column", "Volume", "--csv-delimiter", "tab",
                               "--csv-bar-seconds", "1800"]),
    ("crypto/btc-perp*.csv", ["--csv-time-column", "timestamp", "--csv-volume-column", ""]),
]
LEAN = ["future/cme/minute/es/*_trade.zip", "future/cme/minute/es/*_quote.zip", "future/cme/hour/es_trade.zip",
        "future/cme/daily/es_trade.zip", "future/comex/minute/gc/*_trade.zip", "future/comex/minute/gc/*_quote.zip",
        "future/eurex/minute/fesx/*_trade.zip", "forex/fxcm/hour/eurusd.zip",
        "forex/oanda/daily/*.zip",
        "cfd/oanda/hour/xauusd.zip", "equity/usa/hour/spy.zip", "equity/usa/daily/spy.zip", "equity/usa/daily/qqq.zip",
        "crypto/coinbase/daily/btcusd_trade.zip", "equity/usa/minute/spy/*_trade.zip", "equity/usa/minute/spy/*_quote.zip",
        "crypto/coinbase/minute/btcusd/*_trade.zip", "crypto/coinbase/minute/btcusd/*_quote.zip",
        "crypto/coinbase/second/btcusd/*_trade.zip", "future/comex/tick/gc/*_trade.zip",
        "forex/fxcm/minute/eurusd/*_quote.zip", "equity/usa/second/spy/*_trade.zip", "equity/usa/second/spy/*_quote.zip",
        "forex/fxcm/tick/eurusd/*_quote.zip"]
NOT_NEWS = {"not-checked", "empty-side"}


def check(program, files, options):
    done = subprocess.run([*program, *options, "--json", *map(str, files)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{files}: {done.stderr}")
    return json.loads(done.stdout)["files"]


def words(report):
    found = [f for f in report["findings"] if f["rule"] not in NOT_NEWS]
    return ", ".join(f"{'**' if f['severity'] == 'error' else ''}{f['rule']} {f['count']:,}"
                     f"{'**' if f['severity'] == 'error' else ''}" for f in found) or "nothing"


def print_rows(rows):
    groups = collections.OrderedDict()
    for name, report in rows:
        groups.setdefault((name, words(report), report["errors"] > 0), []).append(report)
    for (name, found, failed), reports in groups.items():
        files = f"{name} ({len(reports)} files)" if len(reports) > 1 else name
        print(f"| {files} | {sum(r['records'] for r in reports):,} | {'failed' if failed else 'passed'} | {found} |", flush=True)


def main():
    program, shared = [sys.argv[1], "data", "check"], pathlib.Path(sys.argv[2]) / "data"
    print("| file | records | | findings (errors in bold) |\n|---|---|---|---|")

    def row(name, path, options=()):
        print_rows([(name, check(program, [path], options)[0])])

    for path in sorted((TOOLS.parent / "data" / "es-sample").glob("*.zst")):
        row(f"es-sample/{path.name}", path)
    for path in sorted((shared / "futures" / "es-mbo").glob("*.zst")):
        row(f"futures/es-mbo/{path.name}", path)
    for pattern, options in CSV:
        for path in sorted(shared.glob(pattern)):
            row(f"{path.relative_to(shared)}{' (bar_stamp = end)' if 'end' in options else ''}", path, options)
    print_rows([(f"dbn/{path.relative_to(shared / 'dbn').parts[0]}", report)
                for path in sorted((shared / "dbn").rglob("*.*")) if path.is_file()
                for report in check(program, [path], [])])
    with tempfile.TemporaryDirectory() as folder:
        for pattern in LEAN:
            out = pathlib.Path(folder) / "lean.csv"
            files = sorted((shared / "lean").glob(pattern))
            made = json.loads(subprocess.run([sys.executable, TOOLS / "lean_csv.py", out, *files], check=True,
                                             capture_output=True, text=True).stdout)
            options = ["--csv-bar-seconds", str(made["seconds"])]
            if made["kind"] == "bar" and not made["volume"]:
                options += ["--csv-volume-column", ""]
            row(f"lean/{pattern}", out, options)


if __name__ == "__main__":
    main()
