"""Answers with a trained foxhunt model, in this process.

    model = foxhunt.Model.open("ES.fox")
    assert model.verify()
    session = model.session()
    answer = session.on_event(time=..., open=..., high=..., low=..., close=..., volume=...)
    if answer:
        print(answer.meaning)      # {"down": 0.31, "flat": 0.42, "up": 0.27}

A model of order events (model.takes_orders) is given each event of the feed: session.on_order(time=..., action="A",
side="B", price=..., size=..., order_id=...). Where no answer is due its status is Status.NO_SAMPLE.

Prices are points whatever their type (4321, 4321.25, "4321.25", Decimal); times carry a time zone or are whole
nanoseconds since 1970 in UTC. RawBar and RawOrder are for those who hold prices as integers of
1e-9.
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
from foxhunt.order import Order, RawOrder
from foxhunt.session import Session, step_many

__all__ = [
    "Answer",
    "Bar",
    "ConfigError",
    "Error",
    "FormatError",
    "IoError",
    "Model",
    "Order",
    "RawBar",
    "RawOrder",
    "Session",
    "Status",
    "UsageError",
    "VerifyReport",
    "__version__",
    "git_revision",
    "step_many",
]
