#!/usr/bin/env python3
"""Holds the sources to ARCHITECTURE.md: rooms, arrows, Torch fence, CMake targets, size budgets. Runs as a test.

    tools/check_rooms.py [ROOT]

Checks, each with file and line:
  * a file includes only rooms that its own room's row in the table allows;
  * a room without `torch` in its row never reaches a Torch header, not even through headers of other rooms;
  * foxhunt/ROOM/CMakeLists.txt says USES with exactly the rooms of the row;
  * <nlohmann/json.hpp> comes through foxhunt/base/json.h, which has its code compiled once;
  * a header has at most 150 lines, a source 400, unless one of its first 12 lines says "Over budget:" and why.
"""
import pathlib
import re
import sys

HEADER_BUDGET, SOURCE_BUDGET = 150, 400
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'\s*#\s*include\s*["<](?:(foxhunt/(\w+)/[^">]+)|((?:torch|ATen|c10)/[^">]+))[">]')


def read_table(root):
    text = (root / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|", text, re.M)
    return {room: set(re.findall(r"`(\w+)`", uses)) for room, uses in rows}


def includes_of(path):
    """(line number, room or 'torch', header path or None) of every include that matters here."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        hit = INCLUDE.match(line)
        if hit:
            yield number, hit[2] or "torch", hit[1]


def reaches_torch(root, header, memory):
    """The chain of headers from `header` to a Torch header, or None."""
    if header in memory:
        return memory[header]
    memory[header] = None
    path = root / header
    if path.exists():
        for _, target, inner in includes_of(path):
            if target == "torch":
                memory[header] = [header]
                break
            chain = reaches_torch(root, inner, memory)
            if chain:
                memory[header] = [header] + chain
                break
    return memory[header]


def check_includes(root, allowed):
    memory = {}
    for path in sorted((root / "foxhunt").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        room = path.relative_to(root).parts[1]
        name = path.relative_to(root)
        if room not in allowed:
            yield f"{name}:1: room '{room}' has no row in ARCHITECTURE.md"
            continue
        uses = allowed[room] | {room}
        is_test = path.stem.endswith("_test")
        for number, target, header in includes_of(path):
            if target not in uses and not is_test:
                yield f"{name}:{number}: {room} may not include {target}"
            elif header and "torch" not in uses:
                chain = reaches_torch(root, header, memory)
                if chain:
                    yield f"{name}:{number}: {room} may not include torch, which it reaches through {' -> '.join(chain)}"


def check_json(root):
    for path in sorted((root / "foxhunt").rglob("*")):
        name = path.relative_to(root)
        if path.suffix not in SUFFIXES or str(name) == "foxhunt/base/json.h":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"\s*#\s*include\s*<nlohmann/json\.hpp>", line):
                yield f"{name}:{number}: include foxhunt/base/json.h instead"


def check_cmake(root, allowed):
    for room, uses in allowed.items():
        path = root / "foxhunt" / room / "CMakeLists.txt"
        if not path.exists():
            yield f"{path.relative_to(root)}:1: missing, but ARCHITECTURE.md has the room"
            continue
        text = re.sub(r"#.*", "", path.read_text())
        hit = re.search(r"\bUSES\b((?:\s+\w+)*?)\s*(?:\b[A-Z_]{4,}\b|\))", text)
        said = set(hit[1].split()) if hit else set()
        if said != uses:
            yield f"{path.relative_to(root)}:1: USES {sorted(said)}, but ARCHITECTURE.md allows {sorted(uses)}"


def check_budgets(root):
    for path in sorted((root / "foxhunt").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        lines = path.read_text().splitlines()
        header = path.suffix in {".h", ".cuh"} and not path.name.endswith(".inl.h")  # sources, once an instruction set
        budget = HEADER_BUDGET if header else SOURCE_BUDGET
        if len(lines) > budget and not any("Over budget:" in line for line in lines[:12]):
            yield f"{path.relative_to(root)}:{budget + 1}: {len(lines)} lines, the budget is {budget}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    allowed = read_table(root)
    bad = [*check_includes(root, allowed), *check_json(root), *check_cmake(root, allowed), *check_budgets(root)]
    print("\n".join(bad) or f"{len(allowed)} rooms, no forbidden include, every file within its budget")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
