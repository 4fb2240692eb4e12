"""Bars as people write them, and as the engine takes them: whole nanoseconds and whole 1e-9 of a point."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

Price = Union[int, float, str, Decimal, None]
Time = Union[int, dt.datetime, np.datetime64, None]

NULL_TIME = -(2**63)
NULL_PRICE = 2**63 - 1
_NANO = 10**9
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


class Bar(NamedTuple):
    """A bar in points. A price that is None or NaN is missing: the record gets Status.BAD_RECORD."""

    time: Time  # start of the interval
    open: Price
    high: Price
    low: Price
    close: Price
    volume: int
    span: float | dt.timedelta | None = None  # seconds; None: the model's
    instrument_id: int = 1  # another one starts a new sequence
    publisher_id: int = 1


class RawBar(NamedTuple):
    """A bar as market data files hold it: nanoseconds, and prices as integers of 1e-9 (4321.25 is 4321250000000)."""

    time_ns: int
    open: int
    high: int
    low: int
    close: int
    volume: int
    span_ns: int | None = None  # None: the model's
    instrument_id: int = 1
    publisher_id: int = 1


def bar_of(bar: object, fields: Mapping[str, Any]) -> Bar:
    """A Bar, any named tuple or mapping with its fields, or the fields themselves."""
    if bar is not None and fields:
        raise TypeError("on_event takes a bar or its fields by name, not both")
    if isinstance(bar, Bar):
        return bar
    if bar is not None:
        if isinstance(bar, Mapping):
            fields = bar
        elif hasattr(bar, "_asdict"):
            fields = bar._asdict()
        else:
            raise TypeError(
                f"on_event got {type(bar).__name__}: give foxhunt.Bar, foxhunt.RawBar, a mapping or a named tuple with "
                f"the fields {', '.join(Bar._fields)}, or the fields by name"
            )
    try:
        return Bar(**fields)
    except TypeError:
        needed = set(Bar._fields) - set(Bar._field_defaults)
        missing = sorted(needed - set(fields), key=Bar._fields.index)
        unknown = sorted(map(str, set(fields) - set(Bar._fields)))
        raise TypeError(
            f"a bar has the fields {', '.join(Bar._fields)}"
            + (f"; missing: {', '.join(missing)}" if missing else "")
            + (f"; unknown: {', '.join(unknown)}" if unknown else "")
        ) from None


def time_ns(value: Time) -> int:
    """Nanoseconds since 1970 in UTC, exactly."""
    if value is None:
        return NULL_TIME
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, np.datetime64):  # UTC by definition
        return int(value.astype("datetime64[ns]").astype(np.int64))
    if isinstance(value, dt.datetime):
        if value != value:  # pandas' NaT
            return NULL_TIME
        if value.tzinfo is None:
            raise ValueError(f"time {value} has no time zone: give an aware one, as value.replace(tzinfo=timezone.utc)")
        exact = getattr(value, "value", None)  # pandas.Timestamp knows its nanoseconds
        if isinstance(exact, int):
            return int(value.as_unit("ns").value) if hasattr(value, "as_unit") else exact
        past = value - _EPOCH
        return (past.days * 86400 + past.seconds) * _NANO + past.microseconds * 1000
    raise TypeError(
        f"time is {type(value).__name__}: give whole nanoseconds since 1970 in UTC (int), an aware datetime or "
        "pandas.Timestamp, or a numpy.datetime64 in UTC"
    )


def _exact(value: Decimal) -> int:
    nanos = value.scaleb(9)
    if nanos != nanos.to_integral_value():
        raise ValueError(f"price {value} is finer than 1e-9")
    return int(nanos)


def price_nano(value: Price) -> int:
    """A price in points as a whole number of 1e-9. Missing or beyond 64 bits: the null that the engine refuses."""
    if value is None:
        return NULL_PRICE
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        nanos = int(value) * _NANO
    elif isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            return NULL_PRICE
        # Below a million points the nearest 1e-9 survives the product; above it goes by its shortest decimal.
        small = abs(value) < 1e6
        nanos = round(float(value) * 1e9) if small else round(Decimal(repr(float(value))).scaleb(9))
    elif isinstance(value, (Decimal, str)):
        try:
            number = Decimal(value)
        except InvalidOperation:
            raise ValueError(f"price {value!r} is no number") from None
        if not number.is_finite():
            return NULL_PRICE
        nanos = _exact(number)
    else:
        raise TypeError(f"a price is {type(value).__name__}: give points as float, int, Decimal or str")
    return nanos if -(2**63) < nanos < NULL_PRICE else NULL_PRICE


def prices_nano(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """price_nano() of a column."""
    if values.dtype.kind != "f":
        return np.array([price_nano(v) for v in values.tolist()], dtype=np.int64)
    wide = values.astype(np.float64)
    plain = np.abs(wide) < 1e6
    nanos = np.full(wide.shape, NULL_PRICE, dtype=np.int64)
    nanos[plain] = np.rint(wide[plain] * 1e9).astype(np.int64)
    for i in np.flatnonzero(np.isfinite(wide) & ~plain):
        nanos[i] = price_nano(float(wide[i]))
    return nanos


def span_ns(value: float | dt.timedelta | None, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, dt.timedelta):
        return (value.days * 86400 + value.seconds) * _NANO + value.microseconds * 1000
    return round(value * _NANO)


def volume_of(value: Any) -> int:
    volume = int(value)
    if volume != value or not 0 <= volume < 2**64:
        raise ValueError(f"volume {value} is no number of contracts: a whole number from 0 on")
    return volume
