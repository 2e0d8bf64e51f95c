"""Estimators whose tables are frames: their state holds the columns as lists and arrays, which skops can write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

_FRAMES = "_frames"


class FramesInState(BaseEstimator):
    """A base of estimators with attributes that are frames with columns of texts and numbers."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the columns of each frame in its place."""
        state = dict(super().__getstate__())
        frames = {name: value for name, value in state.items() if isinstance(value, pd.DataFrame)}
        for name in frames:
            del state[name]
        return {**state, _FRAMES: {name: _columns(frame) for name, frame in frames.items()}} if frames else state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the frames as well."""
        frames = {name: pd.DataFrame(columns) for name, columns in state.get(_FRAMES, {}).items()}
        super().__setstate__({name: value for name, value in state.items() if name != _FRAMES} | frames)


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    return {str(name): column.to_numpy() if column.dtype.kind in "biuf" else column.to_list() for name, column in frame.items()}
