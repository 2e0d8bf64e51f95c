"""Leaky rain: rainfall summed over a window in the past, in which older rain counts less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from spotsvm.errors import ArgumentError
from spotsvm.preprocessing.time_series._leaky_kernels import leaky_sums
from spotsvm.preprocessing.time_series.causal_transformer import CausalTransformer
from spotsvm.preprocessing.time_series.history import Flags, Floats, Tape


@dataclass(eq=False, repr=False)
class LeakyRain(CausalTransformer):
    """Sum each column over a window in the past with weights that decay with age.

    The output at time t is sum_{i=0..W} lambda^i r(t - i) for each pair (lambda, W). The time is proportional to the number of
    rows, whatever W is, and the result is as exact as the sum itself.

    Parameters
    ----------
    decays : float or sequence of float, default=(0.1, 0.3)
        lambda of each pair, in [0, 1]: the share of a reading that remains a step later. To tune the pairs one by one, use a
        LeakyRain with a number for each, in a FeatureUnion.
    windows : int or sequence of int, default=(50, 120)
        W of each pair: how many steps back the sum reaches, 0 or more. A single number is combined with each entry of the other
        argument.
    missing : {"raise", "zero", "ignore", "nan"}, default="raise"
        What to do with a reading that is NaN. An error; count it as 0; leave it out and scale the sum by the weight of all
        readings over that of the known ones (NaN where none is known); or give NaN wherever it is within the window. Unless it
        is "raise", a time between known rows that has no row is treated alike.
    start : {"known", "zero", "ignore", "nan", "raise"}, default="known"
        What to do where there is no row: before the first known row and, with missing="raise", in a gap between rows. "known"
        sums the rows that there are, so that sums begin at 0, and warns of how many rows are so. "zero" says that it was dry
        before the first row: the same sums without a warning, and an error in a gap. The others are as above.
    step : Timedelta, str, int or None, default=None
        Time between two rows. None for the most common one in `fit`; 1 where the index is of integers or periods.

    Attributes
    ----------
    pairs_ : tuple of (float, int)
        Decay and window of each pair.
    reach : int
        How many steps back a row looks: the largest window.
    known_ : KnownRows
        The rows of `fit`.
    n_features_in_, feature_names_in_
        Of the data seen in `fit`.

    Raises
    ------
    ArgumentError, DataError
        In `fit`, if a parameter is not as above; in `fit` and `transform`, if a reading is missing that must not be, or the index
        has no time stamps, one twice, or one off the even spacing; both are ValueErrors.

    Warns
    -----
    DataWarning
        In `fit` and `transform`, how many rows lack a part of their window, if start="known".

    See Also
    --------
    DelayEmbedding : Past values as features.
    HistoryPipeline : A pipeline that uses earlier rows.

    Notes
    -----
    A pandas frame's index says when its rows were read: time stamps, durations, periods or integers. Rows before X's first are
    looked up by it among those seen in `fit`, so that test rows that follow training rows look back into them. The output is a
    frame with that index, which the next step needs as well. An array has no index: its rows are in order of time, a step apart.
    Arrays of later calls are taken to follow the array of `fit`, unless they begin with all of its rows. Pass frames where that
    is not so.

    By its nature it fails two of scikit-learn's checks of estimators: that the order of the rows does not matter, and that a row
    is transformed in the same way without the rows before it.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", eq. 14.

    Examples
    --------
    >>> import pandas as pd
    >>> hours = pd.date_range("2011-03-31", periods=5, freq="h")
    >>> rain = pd.DataFrame({"rain": [0.0, 8.0, 0.0, 0.0, 2.0]}, index=hours)
    >>> leaky = LeakyRain(decays=0.5, windows=2, start="zero")
    >>> leaky.fit(rain[:3]).transform(rain[3:])
                         rain_decay0.5_window2
    2011-03-31 03:00:00                    2.0
    2011-03-31 04:00:00                    2.0
    """

    _missing_rules = ("raise", "zero", "ignore", "nan")
    _start_rules = ("known", "zero", "ignore", "nan", "raise")

    decays: Any = (0.1, 0.3)
    windows: Any = (50, 120)
    _: KW_ONLY
    missing: Literal["raise", "zero", "ignore", "nan"] = "raise"
    start: Literal["known", "zero", "ignore", "nan", "raise"] = "known"
    step: Any = None

    @property
    def reach(self) -> int:
        """How many steps back a row looks: the largest window.

        See Also
        --------
        HistoryPipeline : Adds this number of earlier rows.
        """
        return max(window for _, window in _checked_pairs(self.decays, self.windows))

    @property
    def _needs_start(self) -> bool:
        # these sums begin with 0 anyway
        return self.start != "zero" or self.missing == "ignore"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self.pairs_ = _checked_pairs(self.decays, self.windows)

    def _reached(self, tape: Tape) -> Flags:
        return np.ones(len(tape.values), dtype=bool)

    def _touching(self, tape: Tape, steps: Flags) -> Flags:
        return _within(steps, self.reach)[tape.rows]

    @property
    def _from_the_rest(self) -> str:
        return "their sums are of the rows that there are"

    def _output_names(self, names: Sequence[str]) -> list[str]:
        return [f"{name}_decay{decay}_window{window}" for name in names for decay, window in self.pairs_]

    def _transformed(self, tape: Tape) -> Floats:
        found = np.empty((tape.values.shape[1], len(self.pairs_), tape.n_rows))
        dry = tape.unseen if self.start in ("known", "zero") else 0
        all_known = not tape.unknown[dry:].any() and isinstance(tape.rows, slice) and tape.n_rows == len(tape.values) - dry
        for j, column in enumerate(tape.values.T):
            wet = column[dry:].copy()  # contiguous and writable, whatever was given: the sums are compiled once
            for k, (decay, window) in enumerate(self.pairs_):
                if all_known:
                    leaky_sums(wet, decay, window, found[j, k])
                else:
                    found[j, k] = self._sums(tape, j, decay, window)[tape.rows]
        return found.reshape(-1, tape.n_rows).T

    def _sums(self, tape: Tape, j: int, decay: float, window: int) -> Floats:
        """Return the sums of a column at each step of a tape on which readings are missing."""
        absent = self._open(tape)
        gaps = tape.unknown[:, j] & ~absent
        spoils = (gaps & (self.missing == "nan")) | (absent & (self.start == "nan"))
        left_out = (gaps & (self.missing == "ignore")) | (absent & (self.start == "ignore"))
        sums = _leaky(np.where(tape.unknown[:, j], 0.0, tape.values[:, j]), decay, window)
        if left_out.any():
            sums = _scaled_up(sums, _leaky(np.where(left_out, 0.0, 1.0), decay, window), decay, window)
        if spoils.any():
            sums[_within(spoils, window)] = np.nan
        return sums


def _leaky(values: Floats, decay: float, window: int) -> Floats:
    out = np.empty(len(values))
    leaky_sums(values, decay, window, out)
    return out


def _scaled_up(sums: Floats, known: Floats, decay: float, window: int) -> Floats:
    """Scale sums over the known readings from their weight to the weight of all readings."""
    whole = float((decay ** np.arange(window + 1.0)).sum())
    return np.asarray(np.divide(sums * whole, known, out=np.full(len(sums), np.nan), where=known > 0))


def _within(flags: Flags, window: int) -> Flags:
    """Return for each step whether any flag in its window is set."""
    ups = np.cumsum(flags)
    gone = np.zeros_like(ups)
    gone[window + 1 :] = ups[: -window - 1]
    return np.asarray(ups > gone)


def _checked_pairs(decays: Any, windows: Any) -> tuple[tuple[float, int], ...]:
    """Return the pairs, or raise ArgumentError."""
    found = [_listed("decays", decays), _listed("windows", windows)]
    for decay in found[0]:
        if not isinstance(decay, Real) or isinstance(decay, bool) or not 0.0 <= float(decay) <= 1.0:
            shown = f"decays={decay!r}" if decay is decays else f"decays={decays!r}: {decay!r}"
            raise ArgumentError(f"{shown} is not in [0, 1]; use the share of a reading that is left a step later")
    for window in found[1]:
        if not isinstance(window, Integral) or isinstance(window, bool) or window < 0:
            shown = f"windows={window!r}" if window is windows else f"windows={windows!r}: {window!r}"
            raise ArgumentError(f"{shown} is not a number of steps; use whole numbers, 0 or more")
    lengths = [len(values) for values in found]
    if lengths[0] != lengths[1] and 1 not in lengths:
        raise ArgumentError(f"decays has {lengths[0]} entries and windows {lengths[1]}; use as many, or one for all")
    longest = max(lengths)
    pairs = tuple(
        (float(decay), int(window))
        for decay, window in zip(*(values * (longest if len(values) == 1 else 1) for values in found), strict=True)
    )
    if len(set(pairs)) < len(pairs):
        twice = next(pair for pair in pairs if pairs.count(pair) > 1)
        raise ArgumentError(f"decays and windows have the pair {twice} twice; use each once")
    return pairs


def _listed(name: str, values: Any) -> list[Any]:
    """Return a number, or the entries of a sequence, as a list."""
    if isinstance(values, Real):
        return [values]
    try:
        listed = [] if isinstance(values, str | bytes) else list(values)
    except TypeError:
        listed = []
    if not listed:
        raise ArgumentError(f"{name}={values!r}; use a number, or a sequence of numbers")
    return listed
