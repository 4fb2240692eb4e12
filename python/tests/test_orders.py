import copy
import datetime as dt
import pickle
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest

import foxhunt
from foxhunt.bar import NULL_PRICE


@pytest.fixture
def books(orders):
    return foxhunt.Model.open(orders.path)


def same(session, method, orders, start=0, stop=None):
    """`method`(session, event) gets the statuses and bits of the C++ engine."""
    for i in range(start, len(orders.events) if stop is None else stop):
        answer = method(session, orders.events[i])
        assert answer.status.name == orders.statuses[i], i
        if answer:
            np.testing.assert_array_equal(answer.outputs, orders.outputs[i])
        else:
            assert answer.outputs is None and answer.meaning is None


def in_halves(session, event):
    answer = session.answer_order(event)
    session.advance()
    return answer


def points(raw):
    """As a person would write it."""
    return foxhunt.Order(
        time=raw.received_ns,
        event_time=raw.event_ns,
        price=None if raw.price == NULL_PRICE else Decimal(raw.price).scaleb(-9),
        **{k: v for k, v in raw._asdict().items() if k not in ("received_ns", "event_ns", "price")},
    )


def test_a_model_says_that_it_takes_order_events(model, books):
    assert (books.takes_orders, books.bar_seconds, books.warm_up) == (True, 0, 21)
    assert (model.takes_orders, model.bar_seconds) == (False, 60)
    report = books.verify()
    assert report and report.rows > 150, report.text


def test_every_event_gets_the_bits_of_the_engine_in_cpp(books, orders):
    whole, halves = books.session(), books.session()
    same(whole, foxhunt.Session.on_order, orders)
    same(halves, in_halves, orders)
    assert whole.save() == halves.save()
    counters = whole.counters
    assert counters["bars"] == len(orders.events)
    assert counters["ready"] == orders.statuses.count("READY") > 150
    assert {"READY", "WARMING_UP", "CLOSED", "BAD_RECORD", "NO_SAMPLE"} == set(orders.statuses)


def test_where_no_answer_is_due_the_book_took_the_event(books, orders):
    at = orders.statuses.index("NO_SAMPLE")
    session = books.session()
    same(session, foxhunt.Session.on_order, orders, stop=at)
    before = session.save()
    answer = session.on_order(orders.events[at])
    assert answer.status == foxhunt.Status.NO_SAMPLE and not answer
    assert session.save() != before


def test_an_event_may_come_as_fields_mapping_named_tuple_in_points_or_raw(books, orders):
    class Mine(NamedTuple):
        order_id: int
        action: str
        side: str
        price: float
        size: int
        time: dt.datetime
        flags: int
        instrument_id: int

    raw = foxhunt.RawOrder(event_ns=1703606400123456000, received_ns=1703606400123456000, order_id=7, price=4750250000000,
                           size=3, action="A", side="B", flags=0x80)
    when = dt.datetime(2023, 12, 26, 16, 0, 0, 123456, tzinfo=dt.timezone.utc)
    forms = [
        lambda s: s.on_order(raw),
        lambda s: s.on_order(foxhunt.Order(time=when, action="A", side="B", price="4750.25", size=3, order_id=7)),
        lambda s: s.on_order(time=when, action="A", side="B", price=4750.25, size=3, order_id=7),
        lambda s: s.on_order({"time": raw.received_ns, "action": "A", "side": "B", "price": Decimal("4750.25"), "size": 3,
                              "order_id": 7, "event_time": np.datetime64(raw.event_ns, "ns")}),
        lambda s: s.on_order(Mine(7, "A", "B", 4750.25, np.uint32(3), when, 0x80, 1)),
    ]
    states = []
    for form in forms:
        session = books.session()
        form(session)
        states.append(session.save())
    assert len(set(states)) == 1
    same(books.session(), lambda s, e: s.on_order(points(e)), orders, stop=1500)


def test_what_is_no_event_is_refused_by_name(books, orders):
    session = books.session()
    before = session.save()
    good = orders.events[0]
    for method in (session.on_order, session.answer_order):
        with pytest.raises(TypeError, match="missing: time, action"):
            method(price=1)
        with pytest.raises(TypeError, match="unknown: prize"):
            method(time=1, action="A", prize=1)
        with pytest.raises(TypeError, match="an order event or its fields by name, not both"):
            method(good, size=1)
        with pytest.raises(TypeError, match="got list: give foxhunt.Order"):
            method([1, 2])
        for field, value in (("size", -1), ("size", 2**32), ("order_id", 2**64), ("flags", 256), ("sequence", -1),
                             ("instrument_id", 2**32), ("publisher_id", 2**16), ("channel_id", 256), ("delta_ns", 2**31),
                             ("action", "add"), ("action", ""), ("side", 1), ("side", "\u00e9")):
            with pytest.raises(ValueError, match=field):
                method(good._replace(**{field: value}))
        with pytest.raises(ValueError, match="no time zone"):
            method(time=dt.datetime(2023, 12, 26), action="A")
    assert session.save() == before


def test_the_other_kind_of_record_is_a_bad_record_and_changes_nothing(model, books, case, orders):
    of_bars, of_books = model.session(), books.session()
    before = of_bars.save(), of_books.save()
    assert of_bars.on_order(orders.events[0]).status == foxhunt.Status.BAD_RECORD
    assert of_books.on_event(case.bars[0]).status == foxhunt.Status.BAD_RECORD
    assert (of_bars.save(), of_books.save()) == before


def test_a_session_of_orders_pickles_and_goes_on_with_the_same_bits(books, orders):
    half = 1203  # in the middle of an event of the venue's
    session = books.session()
    same(session, foxhunt.Session.on_order, orders, stop=half)
    for twin in (pickle.loads(pickle.dumps(session)), copy.copy(session), books.session(session.save())):
        same(twin, foxhunt.Session.on_order, orders, start=half)
    for record in (orders.events[0], points(orders.events[0])):
        assert pickle.loads(pickle.dumps(record)) == record
