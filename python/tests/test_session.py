import copy
import datetime as dt
import pickle
import threading
import time
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest

import foxhunt
from foxhunt.bar import NULL_PRICE, price_nano, prices_nano, time_ns


def answers(session, bars):
    return [session.on_event(bar) for bar in bars]


def same(got, case, start=0):
    for i, answer in enumerate(got, start):
        assert answer.status.name == case.statuses[i], i
        if answer:
            np.testing.assert_array_equal(answer.outputs, case.outputs[i])
        else:
            assert answer.outputs is None and answer.meaning is None


def test_every_bar_gets_the_bits_of_the_engine_in_cpp(model, case):
    session = model.session()
    got = answers(session, case.bars)
    same(got, case)
    counters = session.counters
    assert counters["bars"] == len(case.bars) and counters["bad_record"] == counters["out_of_order"] == 1
    assert sum(bool(a) for a in got) == counters["ready"] > 100
    assert sum(a.meaning["up"] + a.meaning["flat"] + a.meaning["down"] for a in got if a) == pytest.approx(counters["ready"])


def test_a_bar_may_come_as_fields_mapping_named_tuple_or_raw(model, case):
    class Mine(NamedTuple):
        volume: int
        time: dt.datetime
        open: float
        high: float
        low: float
        close: float

    def aware(bar):
        return dt.datetime.fromtimestamp(bar.time // 10**9, dt.timezone.utc)

    def points(bar):
        return [float("nan") if p is None else float(p) for p in bar[1:5]]

    forms = {
        "fields": lambda s, b: s.on_event(**b._asdict()),
        "mapping": lambda s, b: s.on_event({**b._asdict(), "span": dt.timedelta(minutes=1)}),
        "decimal": lambda s, b: s.on_event(b._replace(**{k: p and Decimal(p) for k, p in zip(("open", "high", "low", "close"), b[1:5])})),
        "named tuple": lambda s, b: s.on_event(Mine(b.volume, aware(b), *points(b))),
        "numpy": lambda s, b: s.on_event(b._replace(time=np.datetime64(b.time, "ns"), span=60)),
        "raw": lambda s, b: s.on_event(foxhunt.RawBar(b.time, *map(price_nano, b[1:5]), b.volume)),
    }
    for name, give in forms.items():
        session = model.session()
        same([give(session, bar) for bar in case.bars], case)


def test_wrong_bars_say_what_to_give(model, case):
    session = model.session()
    before = session.save()
    bar = case.bars[0]
    with pytest.raises(TypeError, match="missing: close, volume; unknown: Close"):
        session.on_event(time=1, open=1, high=1, low=1, Close=1)
    with pytest.raises(ValueError, match=r"has no time zone: .*timezone\.utc"):
        session.on_event(bar._replace(time=dt.datetime(2013, 10, 7)))
    with pytest.raises(TypeError, match="aware datetime"):
        session.on_event(bar._replace(time="2013-10-07"))
    with pytest.raises(ValueError, match="'x' is no number"):
        session.on_event(bar._replace(open="x"))
    with pytest.raises(ValueError, match="volume -1"):
        session.on_event(bar._replace(volume=-1))
    with pytest.raises(TypeError, match="not both"):
        session.on_event(bar, open=1)
    with pytest.raises(TypeError, match=r"foxhunt\.RawBar"):
        session.on_event(3)
    assert session.save() == before


def test_prices_are_exact():
    assert price_nano(4321.25) == price_nano("4321.25") == price_nano(Decimal("4321.25")) == 4321_250_000_000
    assert price_nano(4321) == price_nano(np.int64(4321)) == 4321_000_000_000
    assert price_nano(1.10005) == 1_100_050_000 and price_nano(-37.63) == -37_630_000_000
    assert price_nano(float("nan")) == price_nano(None) == price_nano(1e300) == price_nano("inf") == NULL_PRICE
    with pytest.raises(ValueError, match="finer than 1e-9"):
        price_nano("0.1234567891")
    rng = np.random.default_rng(1)
    for scale in 1, 1000, 100_000, 10_000_000:
        ticks = rng.integers(-scale * 10**5, scale * 10**5, 300)  # of 0.00001, the finest that futures here have
        floats = np.array([float(Decimal(int(t)).scaleb(-5)) for t in ticks])
        want = (ticks * 10**4).tolist()
        assert [price_nano(float(v)) for v in floats] == want
        assert prices_nano(floats).tolist() == want
    assert prices_nano(np.array([1.5, np.nan, np.inf, 1e300])).tolist() == [1_500_000_000] + 3 * [NULL_PRICE]


def test_times_are_exact():
    want = 1_381_183_260_123_456_000
    aware = dt.datetime(2013, 10, 7, 17, 1, 0, 123456, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    assert time_ns(aware) == time_ns(np.datetime64("2013-10-07T22:01:00.123456")) == want
    pandas = pytest.importorskip("pandas")
    stamp = pandas.Timestamp("2013-10-07T17:01:00.123456789", tz="America/Chicago")
    assert time_ns(stamp) == want + 789
    assert time_ns(pandas.NaT) == -(2**63)


def test_step_and_run_give_the_bits_of_the_engine(model, case):
    one = model.session()
    for row, want in zip(case.rows, case.rows_out):
        answer = one.step(row)
        if np.isnan(want[0]):
            assert answer.status == foxhunt.Status.BAD_INPUT and not answer
        else:
            np.testing.assert_array_equal(answer.outputs, want)
    batch = model.session()
    np.testing.assert_array_equal(batch.run(case.rows), case.rows_out)
    assert batch.save() == one.save() and batch.position == one.position == np.isfinite(case.rows_out[:, 0]).sum()
    for form in (case.rows.astype(np.float64), np.asfortranarray(case.rows), case.rows[::1].tolist()):
        np.testing.assert_array_equal(model.session().run(form), case.rows_out)
    np.testing.assert_array_equal(model.session().run(case.rows[::2]), model.session().run(case.rows[::2].copy()))


def test_contiguous_float32_is_read_where_it_lies(model, case, monkeypatch):
    session = model.session()

    def never(*args, **kwargs):
        raise AssertionError("copied")

    monkeypatch.setattr(np, "ascontiguousarray", never)
    readonly = case.rows.copy()
    readonly.flags.writeable = False
    session.run(readonly)
    session.step(readonly[0])
    with pytest.raises(AssertionError, match="copied"):
        session.run(readonly[::2])


def test_wrong_shapes_name_the_features(model, case):
    session = model.session()
    with pytest.raises(ValueError, match=r"a row of 3 values; this model takes \d+, in this order: ret_1, ret_3"):
        session.step(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="this model takes"):
        session.run(case.rows[:, 1:])
    with pytest.raises(ValueError, match="expected rows .T, F., got an array of 1 dim"):
        session.run(case.rows[0])
    assert session.run(case.rows[:0]).shape == (0, 3)


def test_step_many_gives_the_bits_of_each_alone(model, case, other):
    sessions = [model.session() for _ in range(7)]
    alone = [model.session() for _ in range(7)]
    for t in range(0, 70, 7):
        outputs, statuses = foxhunt.step_many(sessions, case.rows[t : t + 7])
        for i, session in enumerate(alone):
            answer = session.step(case.rows[t + i])
            assert statuses[i] == answer.status
            if answer:
                np.testing.assert_array_equal(outputs[i], answer.outputs)
            else:
                assert np.isnan(outputs[i]).all()
    stranger = foxhunt.Model.open(other.path).session()
    with pytest.raises(ValueError, match="sessions of two models"):
        foxhunt.step_many([sessions[0], stranger], case.rows[:2])
    with pytest.raises(RuntimeError, match="twice in one call"):
        foxhunt.step_many([sessions[0], sessions[0]], case.rows[:2])
    with pytest.raises(ValueError, match="1 rows for 2 sessions"):
        foxhunt.step_many(sessions[:2], case.rows[:1])
    sessions[0].step(case.rows[0])  # a refusal leaves nothing held


def test_a_session_pickles_and_goes_on_with_the_same_bits(model, case):
    session = model.session()
    same(answers(session, case.bars[:60]), case)
    copies = [pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session), session.copy(),
              model.session(session.save())]
    for twin in copies:
        assert isinstance(twin, foxhunt.Session)
        same(answers(twin, case.bars[60:]), case, 60)
    same(answers(session, case.bars[60:]), case, 60)
    two = pickle.loads(pickle.dumps([session, session.copy()]))
    assert two[0].model is two[1].model  # opened once
    session.reset()
    assert session.save() == model.session().save()


def test_a_state_of_another_model_is_refused_and_changes_nothing(model, case, other):
    stranger = foxhunt.Model.open(other.path).session()
    before = stranger.save()
    session = model.session()
    answers(session, case.bars[:30])
    with pytest.raises(foxhunt.FormatError, match="the state is of model"):
        stranger.restore(session.save())
    with pytest.raises(foxhunt.FormatError):
        session.restore(session.save()[:-1])
    narrow = foxhunt.Model.open(case.path, weights="int8")
    with pytest.raises(foxhunt.FormatError, match="weights fp32"):
        narrow.session(session.save())
    assert stranger.save() == before


def test_an_answer_outlives_its_session(model, case):
    session = model.session()
    outputs = [a.outputs for a in answers(session, case.bars) if a]
    del session
    want = case.outputs[[s == "READY" for s in case.statuses]]
    np.testing.assert_array_equal(np.array(outputs), want)
    with pytest.raises(ValueError, match="read-only"):
        outputs[0][0] = 1


def test_a_batch_leaves_python_to_other_threads_and_refuses_a_second_one(model, case):
    rows = np.tile(np.nan_to_num(case.rows), (4000, 1))
    session = model.session()
    refused, ticks = [], 0
    done = threading.Event()

    def work():
        session.run(rows)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        try:
            session.step(case.rows[0])
        except RuntimeError as error:
            refused.append(str(error))
        time.sleep(0.0005)
    thread.join()
    # With Python's lock held, this thread would wake once at most before the batch is over.
    assert ticks > 3
    assert refused and "session.copy()" in refused[0]
