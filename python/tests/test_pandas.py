import numpy as np
import pytest

import foxhunt

pd = pytest.importorskip("pandas")


def test_run_takes_columns_by_name_and_keeps_the_index(model, case):
    index = pd.date_range("2013-10-07 22:00", periods=len(case.rows), freq="min", tz="UTC", name="start")
    frame = pd.DataFrame(case.rows, columns=list(model.feature_names), index=index)
    shuffled = frame[list(model.feature_names)[::-1]].assign(note="mine")
    for given in frame, shuffled, frame.astype("float64"):
        got = model.session().run(given)
        pd.testing.assert_index_equal(got.index, index)
        assert list(got.columns) == ["down", "flat", "up"]
        np.testing.assert_array_equal(got.to_numpy(), case.rows_out)


def test_a_column_that_is_missing_or_there_twice_is_named(model, case):
    frame = pd.DataFrame(case.rows, columns=list(model.feature_names))
    with pytest.raises(ValueError, match=r"lacks the columns \['ret_3'\]"):
        model.session().run(frame.drop(columns="ret_3"))
    with pytest.raises(ValueError, match=r"\['ret_1'\] twice"):
        model.session().run(pd.concat([frame, frame[["ret_1"]]], axis=1))


def bars_frame(case):
    frame = pd.DataFrame(
        [[float("nan") if p is None else float(p) for p in b[1:5]] + [b.volume] for b in case.bars],
        columns=["open", "high", "low", "close", "volume"],
        index=pd.DatetimeIndex(pd.to_datetime([b.time for b in case.bars], utc=True)),
    )
    return frame.astype({"volume": "int64"})


@pytest.mark.parametrize("zone", ["UTC", "America/Chicago"])
def test_run_frame_answers_each_bar_as_on_event_does(model, case, zone):
    frame = bars_frame(case).tz_convert(zone)
    got = model.session().run_frame(frame)
    pd.testing.assert_index_equal(got.index, frame.index)
    assert [foxhunt.Status(s).name for s in got["status"]] == case.statuses
    ready = (got["status"] == foxhunt.Status.READY).to_numpy()
    np.testing.assert_array_equal(got.to_numpy()[ready, 1:].astype(np.float32), case.outputs[ready])
    assert got.iloc[~ready, 1:].isna().all().all()


def test_run_frame_says_what_it_takes(model, case):
    frame = bars_frame(case)
    with pytest.raises(TypeError, match="time zone"):
        model.session().run_frame(frame.tz_localize(None))
    with pytest.raises(ValueError, match=r"lacks the columns \['close'\]"):
        model.session().run_frame(frame.drop(columns="close"))
    with pytest.raises(ValueError, match="volume"):
        model.session().run_frame(frame.assign(volume=-1.0))
