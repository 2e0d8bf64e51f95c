"""Tables with many rows: the parameters are tuned on a sample, and the machine is then fitted on as many rows as time allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from time import monotonic
from typing import Any

from sklearn.base import clone

from spotsvm.common.errors import RefitTimeoutError
from spotsvm.common.text import duration
from spotsvm.search_cv.refit import refitted
from spotsvm.study.callbacks import Callback
from spotsvm.study.recorded import recorded_study
from spotsvm.trials.recommendation import ROWS
from spotsvm.trials.scores.metrics import ScoreUnit
from spotsvm.tuning.pipelines.default_spaces import iteration_cap
from spotsvm.tuning.plan import Pace
from spotsvm.tuning.tables.split import TEST_SHARE, sample
from spotsvm.tuning.tables.table import Table

#: a fit of a support vector machine grows with the number of rows to a power between these
_SLOWEST, _FASTEST = 2.0, 3.0
#: share of the time left that a fit may be expected to take; expected to take longer than this many seconds, it has a time limit
_SURE, _LONG = 0.6, 5.0


@dataclass(frozen=True)
class Limits:
    """From how many rows on a table is large, and what is done then.

    A sample is what the parameters are tuned on.
    """

    whole: int = 20_000  # most rows of a table that is tuned on whole
    sampled: int = 2_000  # rows that a larger one is tuned on, but for as many of each class as there are folds
    tested: int = 5_000  # rows held out of a larger one
    share: float = 0.5  # of the timeout, for the searches
    trials: int = 10  # of each search that are to be possible within that share: else the sample is smaller
    fewest: int = 200  # rows of a sample
    seconds: float = 600.0  # for the fits on more rows where there is no timeout

    def test_share(self, n: int) -> float:
        """Return the share of the rows to hold out."""
        return TEST_SHARE if n <= self.whole else min(TEST_SHARE, self.tested / n)

    def sample_of(self, train: Table, cv: int, seed: int, most: int | None = None) -> Table:
        """Return the rows to tune on: all, or a sample of those of a large table; `most` if there is no time for more."""
        n = len(train.y)
        size = n if n <= (1.0 - TEST_SHARE) * self.whole else self.sampled
        if most is not None and most < size:
            size = max(most, self.fewest)
        return sample(train, size, cv, seed)

    def most_rows(self, pace: Pace, n_trials: int, seconds: float) -> int:
        """Return the number of rows on which so many trials, or `trials` if they are fewer, are possible in that time."""
        return pace.rows_within(self.share * seconds / min(n_trials, self.trials))

    def plan(self, n: int, sampled: int, timeout: float | None) -> str:
        """Return what will be done with so many training rows."""
        if timeout is None:
            when = f"{duration(self.seconds)} allow (--timeout SECONDS is a limit for everything)"
        else:
            when = f"are possible until --timeout {timeout:g} s, of which the search has {100 * self.share:g} %"
        many = "many" if timeout is None else "many for that time"
        return (
            f"{n} training rows are {many}, so the parameters are tuned on a sample of "
            f"{sampled} (with the classes' shares), and the machine is then fitted on as many rows as {when}"
        )


@dataclass(frozen=True)
class MoreRows:
    """A machine fitted on more rows than it was tuned on, with the number of rows and the seconds of each fit."""

    estimator: Any
    fits: tuple[tuple[int, float], ...]
    n_training: int

    @property
    def n_rows(self) -> int:
        """Number of rows of the last fit."""
        return self.fits[-1][0]

    def finding(self, score: float, error: float, of_sample: float, n_test: int, unit: ScoreUnit) -> dict[str, Any]:
        """Return the finding about the rows, with the scores on the held-out rows."""
        sampled, n, of = self.fits[0][0], self.n_rows, self.n_training
        which = f"on all {of} training rows" if n == of else f"on {n} of {of} training rows, as there was no time for more"
        if n == sampled:
            text = f"The machine was tuned and fitted {which}."
        else:
            text = (
                f"The parameters were tuned on a sample of {sampled} rows; the final machine was then fitted {which}, in "
                f"{duration(self.fits[-1][1])}. On the {n_test} held-out rows it has {unit.title} {unit.value(score):.4g} "
                f"(standard error {error:.2g}), and {unit.value(of_sample):.4g} where it is fitted on the sample alone. The "
                "score to expect is that of the final machine, the others are those of the sample."
            )
        return {
            "sentence": text, _SAMPLE: sampled, "rows fitted on": n, "training rows": of,
            "seconds of the last fit": self.fits[-1][1], "score on held-out rows": score, "standard error": error,
            "score of the sample": of_sample,
        }  # fmt: skip


_SAMPLE = "rows tuned on"


class TunedOn(Callback):
    """Notes in a study that it is tuned on a sample, so that a run that goes on draws the same one."""

    def __init__(self, train: Table, whole: Table):
        self._sampled, self._n = len(train.y), len(whole.y)

    def on_start(self, study: Any) -> None:
        """Add the finding, which the fits on more rows replace."""
        if ROWS not in study.findings:
            text = f"The parameters are tuned on a sample of {self._sampled} of {self._n} training rows."
            study.add_finding(ROWS, {"sentence": text, _SAMPLE: self._sampled, "training rows": self._n})

    def __deepcopy__(self, memo: Any) -> TunedOn:
        return self


def recorded_rows(out: Path | None, searches: Sequence[str]) -> int | None:
    """Return on how many rows the records in a folder were tuned, if on a sample."""
    for path in [] if out is None else [out / f"{name}.db" for name in searches]:
        if (study := recorded_study(path)) is not None and (found := study.findings.get(ROWS)) is not None:
            return int(found[_SAMPLE])
    return None


def fit_on_more_rows(
    fitted: Any, whole: Table, n_rows: int, seconds: float, least: int, seed: int, say: Callable[[str], Any] = lambda line: None
) -> MoreRows:
    """Fit a machine, which is fitted on so many rows, on growing samples of the whole table until the time is nearly up.

    How long a fit takes is foreseen from the last two: they grow with the rows to a power from 2 to 3. A fit that is expected to
    take long is done in a process that ends with the time; the machine of the fit before is then returned.
    """
    ends = monotonic() + seconds
    took = _timed(lambda: clone(fitted).fit(*_some(whole, n_rows, least, seed)))
    fits, machine = [(n_rows, took)], fitted
    while (n := next_size(fits, len(whole.y), ends - monotonic())) is not None:
        expected, left = _expected(fits, n), ends - monotonic()
        say(f"fitting on {n} of {len(whole.y)} rows, expected to take {duration(expected)} of {duration(left)} left")
        began = monotonic()
        candidate = _with_cap(clone(fitted), n)
        try:
            machine = refitted(candidate, *_some(whole, n, least, seed), {}, left if expected > _LONG else None)
        except RefitTimeoutError:
            say(f"the fit on {n} rows took longer than the time left; the machine of {fits[-1][0]} rows is kept")
            break
        fits.append((n, monotonic() - began))
    return MoreRows(machine, tuple(fits), len(whole.y))


def next_size(fits: list[tuple[int, float]], most: int, left: float) -> int | None:
    """Return the number of rows of the next fit: twice as many while far more are possible, then as many as are; None at the end.

    Examples
    --------
    >>> next_size([(1000, 0.1)], 50_000, 60.0), next_size([(1000, 0.1), (2000, 0.4)], 5000, 60.0)
    (2000, 5000)
    >>> next_size([(8000, 4.0), (16000, 16.0)], 50_000, 60.0), next_size([(16000, 16.0), (24000, 36.0)], 50_000, 24.0)
    (24000, None)
    """
    n, took = fits[-1]
    possible = min(most, int(n * (max(_SURE * left, 0.0) / max(took, 1e-3)) ** (1.0 / _power(fits))))
    if n == most or possible < min(1.2 * n, most):
        return None
    return 2 * n if possible >= 4 * n else possible


def _expected(fits: list[tuple[int, float]], n: int) -> float:
    rows, took = fits[-1]
    return float(took * (n / rows) ** _power(fits))


def _power(fits: list[tuple[int, float]]) -> float:
    if len(fits) < 2:
        return 0.5 * (_SLOWEST + _FASTEST)
    (n, before), (m, after) = fits[-2:]
    return min(_FASTEST, max(_SLOWEST, log(max(after, 1e-3) / max(before, 1e-3)) / log(m / n)))


def _some(whole: Table, n: int, least: int, seed: int) -> tuple[Any, Any]:
    some = sample(whole, n, least, seed)
    return some.X, some.y


def _timed(call: Callable[[], Any]) -> float:
    began = monotonic()
    call()
    return monotonic() - began


def _with_cap(machine: Any, n: int) -> Any:
    """Return a machine whose iterations are capped for so many rows: a hopeless fit ends."""
    caps = {name: iteration_cap(n) for name in machine.get_params() if name.endswith("max_iter")}
    return machine.set_params(**caps)
