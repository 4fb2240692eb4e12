#!/usr/bin/env python3
"""Bars and quotes of QuantConnect/Lean's zip files as one CSV file that foxhunt reads.

    tools/lean_csv.py OUT.csv FILE.zip...

Trade bars become rows ts_event,open,high,low,close,volume,symbol (without volume where Lean has parts of units);
quote bars and quote ticks become top-of-book rows with the closing bid and ask of the bar, at the bar's start. Times
become UTC, equity prices are divided by Lean's 10,000, contracts get the exchange's names (201312 of es: ESZ13). Rows
stand in the order of time, contracts of one time in the order of expiry. Prints what it wrote as JSON."""
import datetime
import json
import pathlib
import re
import sys
import zipfile
import zoneinfo

MONTHS = "FGHJKMNQUVXZ"
TOP = "ts_event,price,size,action,side,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,ask_ct_00,symbol"
UTC = datetime.timezone.utc
ZONES = {"equity": zoneinfo.ZoneInfo("America/New_York"), "fxcm": datetime.timezone(datetime.timedelta(hours=-5))}


def parts_of(path):
    """Asset class, market, resolution by Lean's folders: .../<class>/<market>/<resolution>/..."""
    names = path.resolve().parts
    at = max(i for i, name in enumerate(names) if name in ("future", "forex", "cfd", "crypto", "equity"))
    return names[at], names[at + 1], names[at + 2]


def symbol_of(asset, member, path):
    stem = pathlib.Path(member).stem
    expiry = re.findall(r"_(\d{6})(?:\d{2})?$", stem)
    if asset != "future" or not expiry:
        root = path.parent.name if re.match(r"\d{8}", path.name) else path.stem.split("_")[0]
        return root.upper()
    root = path.parent.name if re.match(r"\d{8}", path.name) else path.stem.split("_")[0]
    year, month = expiry[-1][:4], int(expiry[-1][4:])
    return f"{root.upper()}{MONTHS[month - 1]}{year[2:]}"


def time_of(text, day, zone):
    """Nanoseconds since 1970: milliseconds of the file's day, or YYYYMMDD HH:MM."""
    if day is None:
        local = datetime.datetime.strptime(text, "%Y%m%d %H:%M").replace(tzinfo=zone)
        return int(local.timestamp()) * 10**9
    midnight = datetime.datetime.strptime(day, "%Y%m%d").replace(tzinfo=zone)
    return int(midnight.timestamp()) * 10**9 + round(float(text) * 10**6)


def scaled(price, asset):
    if asset != "equity" or not price:
        return price
    value = int(price)
    return f"{value // 10000}.{value % 10000:04}"


def rows_of(path):
    asset, market, resolution = parts_of(path)
    zone = ZONES.get(asset, ZONES.get(market, UTC))
    day = re.match(r"(\d{8})", path.name)
    day = day.group(1) if day else None
    with zipfile.ZipFile(path) as archive:
        for member in sorted(archive.namelist()):
            symbol = symbol_of(asset, member, path)
            for line in archive.read(member).decode().splitlines():
                fields = line.split(",")
                prices = [scaled(f, asset) for f in fields[1:]]
                t = time_of(fields[0], day, zone)
                if len(fields) == 6 and resolution != "tick":
                    yield t, symbol, "bar", prices[:4], fields[5]
                elif len(fields) == 11:
                    yield t, symbol, "quote", (prices[3], prices[8]), (fields[5] or "0", fields[10] or "0")
                elif resolution == "tick" and len(fields) == 3 and market in ("fxcm", "oanda"):
                    yield t, symbol, "quote", (prices[0], prices[1]), ("0", "0")
                elif resolution == "tick" and len(fields) == 6:
                    yield t, symbol, "trade", prices[0], fields[2]


def iso(nanos):
    seconds, rest = divmod(nanos, 10**9)
    text = datetime.datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:09}Z" if rest else f"{text}Z"


def whole(size):
    return str(int(float(size)))


def main():
    out, files = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    rows = [row for path in files for row in rows_of(path)]
    kinds = {row[2] for row in rows}
    if len(kinds) != 1:
        sys.exit(f"{out}: {sorted(kinds) or 'no'} rows: name files of one kind")
    kind = kinds.pop()
    rows.sort(key=lambda row: row[0])
    volume = kind == "bar" and all(float(row[4]).is_integer() for row in rows)
    with open(out, "w") as text:
        if kind == "bar":
            text.write("ts_event,open,high,low,close," + ("volume," if volume else "") + "symbol\n")
        else:
            text.write(TOP + "\n" if kind == "quote" else "ts_event,price,size,symbol\n")
        for nanos, symbol, _, prices, size in rows:
            t = iso(nanos)
            if kind == "bar":
                text.write(f"{t},{','.join(prices)},{whole(size) + ',' if volume else ''}{symbol}\n")
            elif kind == "trade":
                text.write(f"{t},{prices},{whole(size)},{symbol}\n")
            else:
                text.write(f"{t},,0,A,N,{prices[0]},{prices[1]},{whole(size[0])},{whole(size[1])},0,0,{symbol}\n")
    print(json.dumps({"out": out, "kind": kind, "rows": len(rows), "volume": volume,
                      "seconds": {"hour": 3600, "daily": 86400, "second": 1}.get(parts_of(files[0])[2], 60)}))


if __name__ == "__main__":
    main()
