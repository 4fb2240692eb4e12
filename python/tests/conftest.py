"""Models made by make_test_bundle: MAKE_TEST_BUNDLE names it, or it lies in a build folder."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import foxhunt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _maker() -> pathlib.Path:
    named = os.environ.get("MAKE_TEST_BUNDLE")
    found = [pathlib.Path(named)] if named else sorted(ROOT.glob("build/*/tests/engine/make_test_bundle"))
    if not found or not found[0].exists():
        pytest.exit("no make_test_bundle: build that target (cmake --build build/release --target make_test_bundle)", 2)
    return found[0]


class Case:
    """What make_test_bundle wrote: a model, bars, rows, and what the C++ engine answers to both."""

    def __init__(self, folder: pathlib.Path):
        self.path = folder / "model.fox"
        lines = (folder / "bars.csv").read_text().splitlines()[1:]
        cells = [line.split(",") for line in lines]
        self.bars = [foxhunt.Bar(int(c[0]), *(p or None for p in c[1:5]), int(c[5])) for c in cells]
        self.statuses, self.outputs = _answers(folder)
        model = foxhunt.Model.open(self.path)
        self.rows = np.fromfile(folder / "rows.f32", np.float32).reshape(-1, model.n_features)
        self.rows_out = np.fromfile(folder / "rows_out.f32", np.float32).reshape(-1, model.n_outputs)


class Orders:
    """The same of a model that takes order events."""

    def __init__(self, folder: pathlib.Path):
        self.path = folder / "model.fox"
        names, *lines = (folder / "orders.csv").read_text().splitlines()
        self.events = []
        for line in lines:
            fields = dict(zip(names.split(","), line.split(",")))
            self.events.append(foxhunt.RawOrder(**{k: v if k in ("action", "side") else int(v) for k, v in fields.items()}))
        self.statuses, self.outputs = _answers(folder)


def _answers(folder: pathlib.Path):
    answers = [line.split(",") for line in (folder / "answers.csv").read_text().splitlines()]
    return [a[0].replace(" ", "_").upper() for a in answers], np.array([[float(v) for v in a[1:]] for a in answers], np.float32)


def _case(folder: pathlib.Path, seed: int) -> Case:
    subprocess.run([_maker(), folder, str(seed)], check=True)
    return Case(folder)


@pytest.fixture(scope="session")
def case(tmp_path_factory):
    return _case(tmp_path_factory.mktemp("one"), 1)


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    return _case(tmp_path_factory.mktemp("two"), 2)


@pytest.fixture(scope="session")
def orders(case):
    return Orders(case.path.parent / "orders")


@pytest.fixture
def model(case):
    return foxhunt.Model.open(case.path)
