from __future__ import annotations

import functools
import json
import os
from typing import Any

from foxhunt import _engine
from foxhunt.session import Session


class Model(_engine.Plan):
    """A bundle, opened and packed for this machine. Immutable; any number of sessions and threads share it.

    A model pickles as the path of its bundle and its ids: whoever loads it opens the file again and gets an error where
    the file is another model by then.
    """

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, kernels: str | None = None, weights: str | None = None) -> Model:
        """`kernels`: "avx512", "avx2", "scalar"; None: this machine's fastest. `weights`: "fp32", "fp16", "bf16",
        "int8"; None: the bundle's. Raises IoError, FormatError, ConfigError, UsageError."""
        path = os.path.abspath(os.fspath(path))
        if not os.path.exists(path):
            raise _engine.IoError(f"{path}: no such file; `foxhunt export RUN --out {os.path.basename(path)}` writes one")
        return cls(path, None, kernels, weights)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, name: str = "bytes", kernels: str | None = None, weights: str | None = None
    ) -> Model:
        """The bytes of a bundle; `name` stands for the file in messages. Such a model does not pickle."""
        return cls(name, bytes(data), kernels, weights)

    @functools.cached_property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.feature_list)

    @functools.cached_property
    def output_names(self) -> tuple[str, ...]:
        return tuple(self.output_list)

    @property
    def certificate(self) -> dict[str, Any]:
        """What the export proved."""
        return dict(json.loads(self.certificate_json))

    @property
    def training(self) -> dict[str, Any]:
        """What the training run says of itself."""
        return dict(json.loads(self.training_json))

    def session(self, state: bytes | None = None) -> Session:
        """A stream of its own; with `state` (Session.save()), one that goes on from there with the same bits."""
        session = Session(self)
        if state is not None:
            session.restore(state)
        return session

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.path:
            raise TypeError(
                "a model opened from bytes does not pickle: open it from a file, or keep session.save() and restore it "
                "with model.session(state)"
            )
        return _reopen, (self.path, self.model_id, self.weights)

    def __repr__(self) -> str:
        return (
            f"<foxhunt.Model {self.product} {self.model_id[:12]}, {self.n_features} features, "
            f"{self.n_outputs} outputs, {self.weights}, {self.kernels}>"
        )


def _reopen(path: str, model_id: str, weights: str) -> Model:
    """What a pickled model is loaded with."""
    model = Model.open(path, weights=weights)
    if model.model_id != model_id:
        raise _engine.FormatError(
            f"{path}: is model {model.model_id[:12]} now, the pickle is of {model_id[:12]}; put that bundle back, or open "
            "it where it is and use model.session(state) with a state from session.save()"
        )
    return model
