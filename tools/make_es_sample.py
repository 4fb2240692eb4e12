#!/usr/bin/env python3
"""Makes the text behind data/es-sample: one-minute ES bars of the front contract, as Databento lays out CSV.

    tools/make_es_sample.py LEAN_DATA OUT

LEAN_DATA is the folder Data of QuantConnect/Lean (Apache-2.0); read are future/cme/minute/es/*_trade.zip and
future/cme/map_files/es.csv. Written are OUT/es-ohlcv-1m.csv (the bars) and OUT/es-contracts.csv (symbol, id and last
day of each contract in it). data/es-sample/README.md says how they become DBN.

The front contract of a UTC date is the one with the largest volume on it. Lean's own mapping by open interest must
name the same contract, or the script stops. Only the standard library is needed.
"""
import collections
import csv
import datetime
import decimal
import pathlib
import re
import sys
import zipfile

MONTHS = "FGHJKMNQUVXZ"
OPEN_INTEREST = "2"  # Lean's DataMappingMode: roll when the next contract has more open interest
SID_DAY = 10**14  # a security id of Lean, read in base 36, is days since 1899-12-30 times this, and a rest
Bar = collections.namedtuple("Bar", "time open high low close volume")


def expiry(security_id):
    return datetime.date(1899, 12, 30) + datetime.timedelta(days=int(security_id, 36) // SID_DAY)


def third_friday(year, month):
    middle = datetime.date(year, month, 15)
    return middle + datetime.timedelta(days=(4 - middle.weekday()) % 7)


def mapped_expiry(map_file, date):
    """When the contract expires that Lean's map file has for `date`; a row holds until its own date."""
    for row in csv.reader(map_file.read_text(encoding="utf-8").splitlines()):
        if len(row) == 4 and row[3] == OPEN_INTEREST and row[0] >= f"{date:%Y%m%d}":
            return expiry(row[1].split()[1])
    sys.exit(f"make_es_sample: {map_file} ends before {date}")


def bars_of(text, date):
    """Rows are milliseconds since midnight UTC (start of the bar), open, high, low, close, volume."""
    midnight = datetime.datetime.combine(date, datetime.time(), datetime.timezone.utc)
    for number, line in enumerate(text.split(), 1):
        milliseconds, *prices, volume = line.split(",")
        if int(milliseconds) % 60000 or len(prices) != 4 or decimal.Decimal(volume) % 1:
            sys.exit(f"make_es_sample: {date} line {number}: '{line}' is no minute bar")
        time = midnight + datetime.timedelta(milliseconds=int(milliseconds))
        yield Bar(time, *(decimal.Decimal(price) for price in prices), int(decimal.Decimal(volume)))


def front_contract(path, date):
    """(contract month as yyyymm, bars) of the contract with the largest volume in the zip file."""
    contracts = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            month = re.fullmatch(r"\d{8}_es_minute_trade_(\d{6})\.csv", name)[1]
            contracts[month] = list(bars_of(archive.read(name).decode(), date))
    return max(contracts.items(), key=lambda item: sum(bar.volume for bar in item[1]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    future, out = pathlib.Path(sys.argv[1]) / "future" / "cme", pathlib.Path(sys.argv[2])
    paths = sorted((future / "minute" / "es").glob("*_trade.zip"))
    if not paths:
        sys.exit(f"make_es_sample: no *_trade.zip in {future / 'minute' / 'es'}")
    out.mkdir(parents=True, exist_ok=True)
    contracts, count = {}, 0
    with open(out / "es-ohlcv-1m.csv", "w", encoding="utf-8", newline="\n") as file:
        file.write("ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n")
        for path in paths:
            date = datetime.datetime.strptime(path.name[:8], "%Y%m%d").date()
            month, bars = front_contract(path, date)
            last_day = third_friday(int(month[:4]), int(month[4:]))
            if mapped_expiry(future / "map_files" / "es.csv", date) != last_day:
                sys.exit(f"make_es_sample: on {date} volume says {month}, Lean's map file another contract")
            symbol = f"ES{MONTHS[int(month[4:]) - 1]}{month[2:4]}"
            contracts.setdefault(month, (symbol, date, last_day))
            for bar in bars:
                prices = ",".join(f"{price:.9f}" for price in bar[1:5])
                file.write(f"{bar.time:%Y-%m-%dT%H:%M:%S}.000000000Z,33,0,{month},{prices},{bar.volume},{symbol}\n")
            count += len(bars)
            print(f"{date} {symbol} {len(bars)} bars")
    with open(out / "es-contracts.csv", "w", encoding="utf-8", newline="\n") as file:
        file.write("raw_symbol,instrument_id,first_date,last_date\n")
        for month, (symbol, first, last_day) in contracts.items():
            file.write(f"{symbol},{month},{first},{last_day}\n")
    print(f"{count} bars of {len(contracts)} contracts on {len(paths)} dates")


if __name__ == "__main__":
    main()
