from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from foxhunt import _engine
from foxhunt.bar import RawBar, bar_of, price_nano, prices_nano, span_ns, time_ns, volume_of
from foxhunt.order import raw_order_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    from foxhunt.model import Model


def _is_frame(value: object) -> bool:
    pandas = sys.modules.get("pandas")  # who has a frame has imported it
    return pandas is not None and isinstance(value, pandas.DataFrame)


class Session(_engine.Stream):
    """One stream of records: features, scaling and the model's state.

    A session belongs to one thread at a time: a second one that comes in gets a RuntimeError. It pickles as its model
    and its state; copy() and copy.copy() give a second stream that goes on from the same state.
    """

    def __init__(self, of: Model | Session) -> None:
        super().__init__(of)
        self._model: Model = of._model if isinstance(of, Session) else of

    @property
    def model(self) -> Model:
        return self._model

    def on_event(self, bar: object = None, /, **fields: Any) -> _engine.Answer:
        """A bar in, an Answer out: true where there is one, its status says why not otherwise.

        `bar` is a Bar, a RawBar, a mapping or a named tuple with the fields of Bar; or give the fields by name."""
        default = self._model.bar_seconds * 10**9
        if isinstance(bar, RawBar) and not fields:
            return self.on_bar(*bar[:1], default if bar.span_ns is None else bar.span_ns, *bar[1:6], *bar[7:])
        b = bar_of(bar, fields)
        return self.on_bar(
            time_ns(b.time),
            span_ns(b.span, default),
            price_nano(b.open),
            price_nano(b.high),
            price_nano(b.low),
            price_nano(b.close),
            volume_of(b.volume),
            b.instrument_id,
            b.publisher_id,
        )

    def on_order(self, order: object = None, /, **fields: Any) -> _engine.Answer:
        """An order event in, an Answer out where one is due: Status.NO_SAMPLE says that the book took the event and
        nothing is to be answered. Every event of the instrument is given, those before the open and the snapshot too.

        `order` is an Order, a RawOrder, a mapping or a named tuple with the fields of Order; or give the fields by name."""
        return self.order(*raw_order_of(order, fields, "on_order"))

    def answer_order(self, order: object = None, /, **fields: Any) -> _engine.Answer:
        """on_order() in two: the answer first; advance() takes the event into the state when the answer is out. A
        forgotten advance() is done by the next call."""
        return self.order_answer(*raw_order_of(order, fields, "answer_order"))

    def run(self, rows: npt.ArrayLike | pd.DataFrame) -> Any:
        """step() of each row [T, n_features], without Python's lock.

        Of an array: the outputs [T, n_outputs], float32. Of a DataFrame: a DataFrame of the outputs with the same
        index; its columns are taken by the names of the features, others are left alone. A row with a NaN or infinite
        value is answered with NaN and leaves the state as it was. float32 in one piece is read where it lies."""
        if not _is_frame(rows):
            return self.run_rows(rows)[0]
        import pandas as pd

        assert isinstance(rows, pd.DataFrame)
        outputs, _ = self.run_rows(_columns(rows, self._model.feature_names).to_numpy(dtype=np.float32))
        return pd.DataFrame(outputs, index=rows.index, columns=list(self._model.output_names))

    def run_frame(self, bars: pd.DataFrame, *, instrument_id: int = 1, publisher_id: int = 1) -> pd.DataFrame:
        """on_event() of each bar of a DataFrame: columns open, high, low, close (points) and volume; the index holds the
        starts of the bars, with a time zone. Gives a DataFrame with the same index: `status` (a Status as a number) and
        the outputs, NaN where there is no answer."""
        import pandas as pd

        if not isinstance(bars.index, pd.DatetimeIndex) or bars.index.tz is None:
            raise TypeError(
                "run_frame takes a DataFrame whose index holds the starts of the bars with a time zone: "
                "bars.index = pandas.DatetimeIndex(times, tz='UTC')"
            )
        prices = _columns(bars, ("open", "high", "low", "close", "volume"))
        volume = prices["volume"].to_numpy()
        if not all(float(v).is_integer() and 0 <= v < 2**64 for v in volume):
            raise ValueError("volume holds a value that is no number of contracts: whole numbers from 0 on")
        index = bars.index.tz_convert("UTC").tz_localize(None).to_numpy()
        open_, high, low, close = (prices_nano(prices[name].to_numpy()) for name in ("open", "high", "low", "close"))
        outputs, statuses = self.run_bars(
            np.ascontiguousarray(index.astype("datetime64[ns]").astype(np.int64)),
            self._model.bar_seconds * 10**9,
            open_,
            high,
            low,
            close,
            np.ascontiguousarray(volume.astype(np.uint64)),
            instrument_id,
            publisher_id,
        )
        frame = pd.DataFrame(outputs, index=bars.index, columns=list(self._model.output_names))
        frame.insert(0, "status", statuses)
        return frame

    def copy(self) -> Session:
        """A second stream that goes on from the same state."""
        return Session(self)

    def __copy__(self) -> Session:
        return Session(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Session:
        return Session(self)  # models are immutable: sharing one is no sharing of state

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._model, self.save())

    def __repr__(self) -> str:
        return f"<foxhunt.Session of {self._model.product} {self._model.model_id[:12]} at row {self.position}>"


def _restored(model: Model, state: bytes) -> Session:
    """What a pickled session is loaded with."""
    return model.session(state)


def _columns(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    missing = [name for name in names if name not in frame.columns]
    twice = [name for name in names if name not in missing and list(frame.columns).count(name) > 1]
    if missing or twice:
        raise ValueError(
            f"the DataFrame lacks the columns {missing}" if missing else f"the DataFrame has the columns {twice} twice"
        )
    return frame[list(names)]


def step_many(sessions: Sequence[Session], rows: npt.ArrayLike) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """step() of several sessions of one model at once: rows [sessions, n_features] in, outputs [sessions, n_outputs]
    (NaN where there is no answer) and statuses [sessions] out. The weights are read once for several of them; the same
    bits as one by one."""
    return _engine.step_many(list(sessions), rows)
