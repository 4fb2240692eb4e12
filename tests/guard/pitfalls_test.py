#!/usr/bin/env python3
"""Every pitfall from 1 to 36 is named by a test, and docs/testing.md says which; what it says exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = range(1, 37)


def named_tests(sources):
    """Suite.Name of every test whose name says Pitfall and a number (or two: Pitfall21And22)."""
    found = {}
    for text in sources:
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", text, re.M):
            for first, second in re.findall(r"Pitfall(\d+)(?:And(\d+))?", f"{suite}.{name}"):
                for number in filter(None, (first, second)):
                    found.setdefault(int(number), set()).add(f"{suite}.{name}")
    return found


def rows_of(page):
    """Number to what its row of the table names in backticks."""
    rows = re.findall(r"^\| (\d+) \|[^|]*\|([^|]*)\|$", page, re.M)
    return {int(number): re.findall(r"`([^`]+)`", tests) for number, tests in rows}


def faults(tests, rows):
    for number in NUMBERS:
        if number not in tests:
            yield f"no test names pitfall {number}"
        if number not in rows:
            yield f"docs/testing.md has no row for pitfall {number}"
    for number, names in rows.items():
        known = tests.get(number, set())
        for name in names:
            if not any(test.startswith(name.removesuffix("…")) for test in known):
                yield f"docs/testing.md, pitfall {number}: no test {name}"
        for test in known:
            if not any(test.startswith(name.removesuffix("…")) for name in names):
                yield f"docs/testing.md, pitfall {number}: {test} is missing"


def main():
    planted = named_tests(["TEST(A, Pitfall21And22X) {\nTEST(Pitfall35, Y) {\n  TEST(B, Pitfall9Z)\n"])
    assert planted == {21: {"A.Pitfall21And22X"}, 22: {"A.Pitfall21And22X"}, 35: {"Pitfall35.Y"}}, planted
    assert rows_of("| 7 | what | `A.B…`, `C` |\n") == {7: ["A.B…", "C"]}
    assert list(faults({1: {"A.B"}}, {1: ["A.C"]}))[-2:] == [
        "docs/testing.md, pitfall 1: no test A.C", "docs/testing.md, pitfall 1: A.B is missing"]

    sources = [path.read_text() for path in sorted((ROOT / "foxhunt").rglob("*_test.cpp"))]
    bad = list(faults(named_tests(sources), rows_of((ROOT / "docs/testing.md").read_text())))
    print("\n".join(bad) or "every pitfall is held by a test")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
