import importlib.metadata
import pathlib
import re
import subprocess
import sys

import pytest

import foxhunt

FOLDER = pathlib.Path(foxhunt.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_version_is_the_projects():
    said = re.search(r"project\(foxhunt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert foxhunt.__version__ == importlib.metadata.version("foxhunt") == said


def test_the_module_asks_for_no_torch():
    module = next(FOLDER.glob("_engine*.so"))
    asked = [line.split("=>")[0] for line in subprocess.check_output(["ldd", module], text=True).splitlines()]
    assert any("libc.so" in line for line in asked)
    assert not [line for line in asked if re.search("torch|c10|cuda|foxhunt", line)]
    code = "import sys, foxhunt; assert not {'torch', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_is_typed(tmp_path):
    pytest.importorskip("mypy")
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_engine.pyi").exists()
    good = tmp_path / "good.py"
    good.write_text(
        "import foxhunt\n"
        "model: foxhunt.Model = foxhunt.Model.open('a.fox')\n"
        "answer = model.session().on_event(time=1, open=1.0, high=1, low=1, close=1, volume=1)\n"
        "kind: foxhunt.Status = answer.status\n"
        "flips: int = model.verify().decision_flips\n"
        "meaning: dict[str, float] | None = answer.meaning\n"
    )
    bad = tmp_path / "bad.py"
    bad.write_text("import foxhunt\nn: str = foxhunt.Model.open('a.fox').n_features\n")

    def mypy(*what):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *what]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    for what in (good,), ("-p", "foxhunt"):
        assert mypy(*what).returncode == 0, mypy(*what).stdout
    assert "Incompatible types" in mypy(bad).stdout
