#!/usr/bin/env python3
"""Writes foxhunt/market/product_table.cpp: trading hours, holidays and contract sizes of CME products.

    tools/make_calendar.py MARKET_HOURS.json SYMBOL_PROPERTIES.csv > foxhunt/market/product_table.cpp

The inputs are QuantConnect Lean's Data/market-hours/market-hours-database.json and
Data/symbol-properties/symbol-properties-database.csv (Apache-2.0), whole or cut to the products
below. Times become minutes after midnight in Chicago. What is read differently from Lean, and why:

* Lean lists what a calendar day looks like, we list what a *trade date* looks like: the session of
  trade date D opens at 17:00 Chicago on the day before and ends on D. So a day that Lean closes
  whole ("holidays"), or that it opens only in the evening ("lateOpens" without "earlyCloses"), is a
  trade date without a session. Its evening belongs to the next trade date, which opens as usual.
  Lean's older entries leave that evening closed too (25 December 2013 to 26 December); its newer
  ones (from 25 December 2023) do not, and ES traded on the evening of 1 January 2015.
* An early close without a late open (ES 3 July 2013) does not close the evening either: CME's notice
  for that day says "regular open".
  A date in both "earlyCloses" and "lateOpens" (Thanksgiving) halts and opens again at 17:00; one in "earlyCloses" alone
  is a Friday, the eve of a day without a session, or such a 3 July.
* Some dates that have a sibling in other years are not in Lean's table: 3 July 2023 and 2024, 29 November 2024. They
  are whole days here, and an inspection shows the minutes behind the real close as missing.
* A product's own entry for a date goes before the holiday list of its exchange.
* The table knows only today's hours. HOURS adds what was different before.
* CORRECTIONS holds the entries that contradict the rest of the table.
"""
import csv
import datetime
import json
import sys

PRODUCTS = ["ES", "NQ", "MES", "MNQ", "ZN", "6E", "GC"]
EXCHANGES = {"ES": "cme", "NQ": "cme", "MES": "cme", "MNQ": "cme", "ZN": "cbot", "6E": "cme", "GC": "comex"}
EQUITY = ("ES", "NQ", "MES", "MNQ")
CHICAGO_BEHIND = {"America/Chicago": 0, "America/New_York": 60}  # minutes; both change clocks on the same nights
OPEN = 17 * 60

# (first trade date, close, halt start, halt end) in minutes Chicago; 0, 0: no halt. Sources: CME's notices of each
# change; for ES, minute bars of October to December 2013 (last bar 16:14, none from 15:15 to 15:29) and of
# January 2020 (last bar 15:59, the same halt), and event bars of 2015 (none after 16:00 from mid-September on).
# Before 19 November 2012 a trade date of the equity indices ended at 15:15; the trades of 15:30 to 16:30 belonged
# to the next one and lie outside the sessions given here.
HOURS = {
    "equity": [(19700101, 915, 0, 0), (20121119, 975, 915, 930), (20150921, 960, 915, 930), (20210628, 960, 0, 0)],
    "GC": [(19700101, 975, 0, 0), (20150921, 960, 0, 0)],
    "ZN": [(19700101, 960, 0, 0)],
    "6E": [(19700101, 960, 0, 0)],
}

# Christmas 2025: the entries of ES and ZN "close early" at their regular close, which leaves the whole day open; those
# of 6E and GC close it, as every other Christmas.
CORRECTIONS = {(group, datetime.date(2025, 12, 25)): None for group in ("equity", "ZN")}


def day(text):
    month, date, year = (int(part) for part in text.split("/"))
    return datetime.date(year, month, date)


def minutes(text, behind):
    hour, minute, second = (int(part) for part in text.split(":"))
    if second:
        sys.exit(f"make_calendar: {text} is not a whole minute")
    return hour * 60 + minute - behind


def number(date):
    return date.year * 10000 + date.month * 100 + date.day


def regular_close(group, date):
    return [close for first, close, *_ in HOURS[group] if first <= number(date)][-1]


def check_week(product, entry, behind):
    """The weekly hours must be what the code assumes: 17:00 to 16:00 Chicago, Sunday evening to Friday."""
    for name in ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"):
        pieces = [(piece["start"], piece["end"]) for piece in entry[name]]
        merged = []
        for start, end in pieces:
            if merged and merged[-1][1] == start:
                merged[-1] = (merged[-1][0], end)
            else:
                merged.append((start, end))
        evening = (f"{(OPEN + behind) // 60:02}:00:00", "1.00:00:00")
        day_piece = ("00:00:00", f"{(16 * 60 + behind) // 60:02}:00:00")
        expected = {"sunday": [evening], "friday": [day_piece], "saturday": []}.get(name, [day_piece, evening])
        if merged != expected:
            sys.exit(f"make_calendar: {product} {name} is {merged}, but the code assumes {expected}")


def special_days(group, entry, exchange_entry):
    """{trade date: close in minutes, or None without a session}"""
    behind = CHICAGO_BEHIND[entry["exchangeTimeZone"]]
    early = {day(d): minutes(t, behind) for d, t in entry["earlyCloses"].items()}
    late = {day(d): minutes(t, behind) for d, t in entry["lateOpens"].items()}
    for date, time in late.items():
        if time != OPEN:
            sys.exit(f"make_calendar: {group} opens at minute {time} on {date}, the code knows 17:00 only")
    days = {}
    own = set(early) | set(late)
    for text in entry["holidays"] + [d for d in exchange_entry.get("holidays", []) if day(d) not in own]:
        days[day(text)] = None
    for date in late:
        days[date] = None
    for date, close in early.items():
        days[date] = close
    for (which, date), close in CORRECTIONS.items():
        if which == group:
            days[date] = close
    # Only trade dates matter, and only closes that are early.
    return {
        date: close
        for date, close in sorted(days.items())
        if date.weekday() < 5 and (close is None or close < regular_close(group, date))
    }


def table(name, rows, per_line):
    lines = [", ".join(rows[i : i + per_line]) for i in range(0, len(rows), per_line)]
    return f"constexpr {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"


def nanos(text):
    """A decimal text as an integer of 1e-9, exactly."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    shift = 9 - len(fraction) + int(exponent or 0)
    digits = int(whole + fraction)
    if shift < 0 and digits % 10**-shift:
        sys.exit(f"make_calendar: {text} has more than 9 decimals")
    return digits * 10**shift if shift >= 0 else digits // 10**-shift


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    entries = json.load(open(sys.argv[1], encoding="utf-8"))["entries"]
    with open(sys.argv[2], encoding="utf-8") as file:
        properties = {(r["market"], r["symbol"]): r for r in csv.DictReader(file) if r["type"] == "future"}

    print(f"""// Generated by tools/make_calendar.py from the market-hours and symbol-properties databases of
// QuantConnect/Lean (commit 2486390, Apache License 2.0); do not edit. The script says what is read
// differently from Lean. Dates are trade dates, times minutes after midnight in Chicago.
#include "foxhunt/market/product_table.h"

namespace foxhunt::market {{
namespace {{
""")
    groups = {}
    for product in PRODUCTS:
        market = EXCHANGES[product]
        entry = entries[f"Future-{market}-{product}"]
        group = "equity" if product in EQUITY else product
        check_week(product, entry, CHICAGO_BEHIND[entry["exchangeTimeZone"]])
        days = special_days(group, entry, entries.get(f"Future-{market}-[*]", {}))
        if groups.setdefault(group, days) != days:
            sys.exit(f"make_calendar: {product} differs from the other equity indices")
    for group, days in groups.items():
        label = {"equity": "Equity", "6E": "Euro", "GC": "Gold", "ZN": "Note"}[group]
        rows = [f"{{{number(d)}, {-1 if close is None else close}}}" for d, close in days.items()]
        print(table(f"SpecialDay k{label}Days", rows, 5))
        print(table(f"Hours k{label}Hours", [f"{{{', '.join(map(str, row))}}}" for row in HOURS[group]], 2))
    print("}  // namespace\n")
    print("std::span<const ProductRow> product_table() {\n  static constexpr ProductRow kRows[] = {")
    for product in PRODUCTS:
        row = properties[(EXCHANGES[product], product)]
        label = {"ZN": "Note", "6E": "Euro", "GC": "Gold"}.get(product, "Equity")
        print(f'      {{"{product}", "{EXCHANGES[product].upper()}", "{row["quote_currency"]}", '
              f'{nanos(row["minimum_price_variation"])}, {float(row["contract_multiplier"])}, '
              f"k{label}Days, k{label}Hours}},")
    print("  };\n  return kRows;\n}\n\n}  // namespace foxhunt::market")


if __name__ == "__main__":
    main()
