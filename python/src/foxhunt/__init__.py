"""Answers with a trained foxhunt model, in this process.

    model = foxhunt.Model.open("ES.fox")
    assert model.verify()
    session = model.session()
    answer = session.on_event(time=..., open=..., high=..., low=..., close=..., volume=...)
    if answer:
        print(answer.meaning)      # {"down": 0.31, "flat": 0.42, "up": 0.27}

Prices are points whatever their type (4321, 4321.25, "4321.25", Decimal); times carry a time zone or are whole
nanoseconds since 1970 in UTC. RawBar is for those who hold prices as integers of 1e-9.
"""

from foxhunt._engine import (
    Answer,
    ConfigError,
    Error,
    FormatError,
    IoError,
    Status,
    UsageError,
    VerifyReport,
    git_revision,
)
from foxhunt._engine import version as __version__
from foxhunt.bar import Bar, RawBar
from foxhunt.model import Model
from foxhunt.session import Session, step_many

__all__ = [
    "Answer",
    "Bar",
    "ConfigError",
    "Error",
    "FormatError",
    "IoError",
    "Model",
    "RawBar",
    "Session",
    "Status",
    "UsageError",
    "VerifyReport",
    "__version__",
    "git_revision",
    "step_many",
]
