"""Order events as people write them and as feeds hold them; the engine takes whole nanoseconds and whole 1e-9 of a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from foxhunt.bar import Price, Time, price_nano, time_ns


class Order(NamedTuple):
    """An event of a market-by-order feed, in points."""

    time: Time  # when it was received: the stream's order
    action: str  # A add, C cancel, M modify, R clear, T trade, F fill, N none
    side: str = "N"  # B bid, A ask, N none
    price: Price = None
    size: int = 0
    order_id: int = 0
    flags: int = 0x80  # as in DBN: 0x80 last of its event, 0x20 snapshot
    event_time: Time = None  # at the venue; None: as received
    sequence: int = 0
    instrument_id: int = 1  # another one starts a new book
    publisher_id: int = 1
    channel_id: int = 0
    delta_ns: int = 0  # from sending to receiving


class RawOrder(NamedTuple):
    """An order event as market data files hold it: nanoseconds, and prices as integers of 1e-9 (4321.25 is 4321250000000)."""

    event_ns: int
    received_ns: int
    order_id: int
    price: int
    size: int
    action: str
    side: str
    flags: int
    sequence: int = 0
    instrument_id: int = 1
    publisher_id: int = 1
    channel_id: int = 0
    delta_ns: int = 0


# Field, least, most: what the engine's record can hold.
_RANGES = (
    ("order_id", 0, 2**64 - 1),
    ("size", 0, 2**32 - 1),
    ("flags", 0, 2**8 - 1),
    ("sequence", 0, 2**32 - 1),
    ("instrument_id", 0, 2**32 - 1),
    ("publisher_id", 0, 2**16 - 1),
    ("channel_id", 0, 2**8 - 1),
    ("delta_ns", -(2**31), 2**31 - 1),
)


def raw_order_of(order: object, fields: Mapping[str, Any], method: str) -> RawOrder:
    """A RawOrder as it is; an Order, any named tuple or mapping with its fields, or the fields themselves."""
    if order is not None and fields:
        raise TypeError(f"{method} takes an order event or its fields by name, not both")
    if isinstance(order, RawOrder):
        raw = order
    elif isinstance(order, Order):
        raw = _raw(order)
    elif order is None:
        raw = _raw(_order(fields))
    elif isinstance(order, Mapping):
        raw = _raw(_order(order))
    elif hasattr(order, "_asdict"):
        raw = _raw(_order(order._asdict()))
    else:
        raise TypeError(
            f"{method} got {type(order).__name__}: give foxhunt.Order, foxhunt.RawOrder, a mapping or a named tuple with "
            f"the fields {', '.join(Order._fields)}, or the fields by name"
        )
    for name, least, most in _RANGES:
        value = getattr(raw, name)
        if not least <= value <= most or int(value) != value:
            raise ValueError(f"{name} {value} of an order event: a whole number from {least} to {most}")
    for name in ("action", "side"):
        letter = getattr(raw, name)
        if not isinstance(letter, str) or len(letter) != 1 or not letter.isascii():
            raise ValueError(f"{name} {letter!r} of an order event: one letter, as in DBN")
    return raw


def _order(fields: Mapping[str, Any]) -> Order:
    try:
        return Order(**fields)
    except TypeError:
        missing = [name for name in ("time", "action") if name not in fields]
        unknown = sorted(map(str, set(fields) - set(Order._fields)))
        raise TypeError(
            f"an order event has the fields {', '.join(Order._fields)}"
            + (f"; missing: {', '.join(missing)}" if missing else "")
            + (f"; unknown: {', '.join(unknown)}" if unknown else "")
        ) from None


def _raw(order: Order) -> RawOrder:
    received = time_ns(order.time)
    return RawOrder(
        event_ns=received if order.event_time is None else time_ns(order.event_time),
        received_ns=received,
        price=price_nano(order.price),
        order_id=order.order_id,
        size=order.size,
        action=order.action,
        side=order.side,
        flags=order.flags,
        sequence=order.sequence,
        instrument_id=order.instrument_id,
        publisher_id=order.publisher_id,
        channel_id=order.channel_id,
        delta_ns=order.delta_ns,
    )
