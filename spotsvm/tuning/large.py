"""Tables with many rows: parameters are tuned on a sample, and models are fitted to a larger one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from sklearn import config_context, get_config
from sklearn.base import clone

from spotsvm.common.notices import Notice, gathered, tell
from spotsvm.common.text import duration
from spotsvm.study.workers.process import TimeUpError, call_within
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.pipelines.default_spaces import iteration_cap
from spotsvm.tuning.tables.split import TEST_SHARE, sample
from spotsvm.tuning.tables.table import Table


@dataclass(frozen=True)
class Limits:
    """The numbers of rows above which `spotsvm tune --model svm` works with samples.

    Parameters
    ----------
    whole : int
        Largest number of training rows for which all are used to tune the parameters.
    sampled : int
        Size of the sample to tune on if there are more rows. Each class has at least as many rows in it as there are folds.
    fitted : int
        Largest number of rows that the final model is fitted to.
    many : int
        Largest number of rows of a table from which a quarter is held out.
    tested : int
        Number of rows to hold out of a larger table.
    share : float
        Share of the timeout for searches on a sample.

    Examples
    --------
    >>> from spotsvm.tables import Limits
    >>> Limits().test_share(1_000), Limits().test_share(100_000)
    (0.25, 0.05)
    """

    whole: int = 3_000
    sampled: int = 2_000
    fitted: int = 10_000
    many: int = 20_000
    tested: int = 5_000
    share: float = 0.5

    def test_share(self, n: int) -> float:
        """Return the share of the rows to hold out.

        Returns
        -------
        float
            The share, between 0 and 1.
        """
        return TEST_SHARE if n <= self.many else min(TEST_SHARE, self.tested / n)

    def to_tune(self, train: Table, cv: int, seed: int) -> Table:
        """Return the rows to tune on.

        Returns
        -------
        Table
            These rows of the table.
        """
        return train if len(train.y) <= self.whole else sample(train, self.sampled, cv, seed)

    def to_fit(self, train: Table, cv: int, seed: int) -> Table:
        """Return the rows to fit one model to.

        Returns
        -------
        Table
            These rows of the table.
        """
        return sample(train, self.fitted, cv, seed)


@dataclass(frozen=True)
class MoreRows:
    """A model fitted to more rows than it was tuned on; `estimator` is None if the time was too short for this fit."""

    estimator: Any
    sampled: int
    n_rows: int
    n_training: int
    seconds: float

    def finding(self, name: str, score: float, error: float, of_sample: float, n_test: int, unit: ScoreUnit) -> dict[str, Any]:
        """Return the finding about the rows of the SVM of this name, with its scores on the held-out rows."""
        rows = f"{self.n_rows} of {self.n_training} training rows"
        if self.estimator is None:
            text = f"The model was tuned on and fitted to {rows}, as there was no time for more."
        else:
            text = (
                f"The parameters were tuned on a sample of {self.sampled} rows; the final model was then fitted to {rows}, in "
                f"{duration(self.seconds)}. On the {n_test} held-out rows it has {unit.title} {unit.value(score):.4g} "
                f"(standard error {error:.2g}), and {unit.value(of_sample):.4g} if it is fitted to the sample alone. The scores "
                f"of the {name} SVM on held-out rows and on new rows are those of the final model; a linear model or a forest "
                "beside it is fitted to the same rows. All other scores, and the difference between the tuned and the default "
                "SVM, are those of models fitted to the sample."
            )
        return {
            "sentence": text, "rows tuned on": self.sampled, "rows fitted on": self.n_rows, "training rows": self.n_training,
            "seconds of the last fit": self.seconds, "score on held-out rows": score, "standard error": error,
            "score of the sample": of_sample,
        }  # fmt: skip


def fit_to_more_rows(
    fitted: Any, sampled: int, some: Table, n_training: int, seconds: float | None, say: Callable[[str], Any] = lambda line: None
) -> MoreRows:
    """Fit a model that was fitted to a sample to more rows, within a number of seconds."""
    n = len(some.y)
    say(f"fit: the recommended SVM to {n} of {n_training} training rows")
    # a hopeless fit ends at the cap
    model = clone(fitted).set_params(**{name: iteration_cap(n) for name in fitted.get_params() if name.endswith("max_iter")})
    began = monotonic()
    try:
        model = _fitted(model, some, seconds)
    except TimeUpError:
        say(f"the fit took longer than the time left; the model fitted to {sampled} rows is kept")
        return MoreRows(None, sampled, sampled, n_training, monotonic() - began)
    return MoreRows(model, sampled, n, n_training, monotonic() - began)


def _fitted(model: Any, some: Table, seconds: float | None) -> Any:
    """Return a model fitted in this process, or with a limit in a process that is killed when the time is up."""
    config = get_config()

    def fit() -> tuple[Any, list[Notice]]:
        with config_context(**config), gathered() as told:
            return model.fit(some.X, some.y), told

    fitted, told = fit() if seconds is None else call_within(fit, seconds)
    tell(told)
    return fitted
