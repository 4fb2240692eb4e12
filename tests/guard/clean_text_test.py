#!/usr/bin/env python3
"""No file of the project names a home folder, a package registry's host or a credential."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORBIDDEN = {
    "a home or temporary folder of some machine": r"/(?:home|root)/\w|/work/\w|/tmp/\w",
    "a package registry's host": r"pypi\.org|pythonhosted|deb\.debian\.org|registry\.npmjs|download\.pytorch",
    "a credential": r"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|ghp_\w{20}",
}


def main():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        print("not a git checkout: nothing to check")
        return 0
    bad = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if name == "tests/guard/clean_text_test.py" or not path.is_file():
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            for what, pattern in FORBIDDEN.items():
                if re.search(pattern, line):
                    bad.append(f"{name}:{number}: names {what}")
    print("\n".join(bad) or "clean")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
