"""Stop rules: end a search when the expected improvement is small compared with the uncertainty of the score."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from spotsvm.common.errors import ArgumentError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.surrogates.acquisition.expected_gain import expected_gain
from spotsvm.surrogates.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.noise import judge_noise
from spotsvm.trials.ledger import Ledger
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.scores.fold_bias import corrected_standard_error, fold_scores, tuned_metric
from spotsvm.trials.trial import Trial

_LOG = logging.getLogger(__name__)

_STREAM = 1 << 42


@dataclass(frozen=True)
class Look:
    """The figures that a stop rule computes after some trials.

    Attributes
    ----------
    n_trials : int
        Number of finished trials.
    expected_improvement : float
        The largest improvement that a model of them expects from one more trial, in the unit of the value.
    uncertainty : float
        The uncertainty of the score, in the same unit; nan if there is none.
    basis : {"folds", "noise", "none"}
        Source of the uncertainty: the fold scores of the incumbent, the noise of the objective, or neither.
    """

    n_trials: int
    expected_improvement: float
    uncertainty: float
    basis: Literal["folds", "noise", "none"]


@runtime_checkable
class StopRule(Protocol):
    """The interface of a stop rule for `Study.run`.

    See Also
    --------
    ImprovementBelowUncertainty : The rule of the library.
    Study.run : Takes it as `stop`.

    Examples
    --------
    A rule that ends a run when one more trial is expected to gain less than 1e-3, whatever the noise:

    >>> from dataclasses import dataclass, replace
    >>> from scipy.stats import uniform
    >>> from spotsvm import ImprovementBelowUncertainty, Study
    >>> @dataclass(frozen=True)
    ... class GainBelow:
    ...     factor: float = 1.0
    ...     patience: int = 3
    ...     gain: float = 1e-3
    ...
    ...     def look(self, trials, space, **known):
    ...         found = ImprovementBelowUncertainty(min_trials=10).look(trials, space, **known)
    ...         return found and replace(found, uncertainty=self.gain)
    >>> study = Study({"x": uniform(-1, 2)}, seed=0)
    >>> len(study.run(lambda p: p["x"] ** 2, n_trials=40, stop=GainBelow()).trials) < 40
    True
    """

    @property
    def factor(self) -> float:
        """Multiple of the uncertainty that the expected improvement must be below.

        See Also
        --------
        look : Finds the two that it compares.
        """
        ...

    @property
    def patience(self) -> int:
        """Number of consecutive trials for which this must hold.

        See Also
        --------
        factor : What must hold for so long.
        """
        ...

    def look(self, trials: Sequence[Trial], space: Space, *, sign: float, noise: Noise, seed: int) -> Look | None:
        """Examine the first finished trials of a study; return None if they are too few. Depends on the arguments alone.

        See Also
        --------
        ImprovementBelowUncertainty : A rule that implements it.
        """
        ...


@dataclass(frozen=True)
class ImprovementBelowUncertainty:
    """Stop when the largest expected improvement is below the uncertainty of the score, several trials in a row.

    A Kriging model of the trials gives the expected improvement, whatever search they come from. The uncertainty is, where the
    value is a mean of fold scores, the standard error of the incumbent's, corrected for the overlap of the folds' training rows;
    otherwise, under noise, the standard error of the incumbent's predicted mean. A deterministic objective without fold scores
    has no uncertainty, and its search is never stopped.

    Parameters
    ----------
    factor : float, default=0.1
        Multiple of the uncertainty that the improvement must be below.
    patience : int, default=5
        Number of consecutive trials for which this must hold.
    min_trials : int or None, default=None
        Finished trials before the first decision; None is 10 and 3 for each parameter, and at least 20: with fewer, the model
        underestimates its uncertainty.
    test_share : float or None, default=None
        Share of the rows in the test part of a fold; None is 1 / number of folds. `SpotSearchCV` sets it.

    See Also
    --------
    StopRule : What a rule of your own has.
    Study.run : Takes it as `stop`.

    Notes
    -----
    The uncertainty is that of one score; the difference of two configurations on the same folds is more certain. A search that
    is stopped would therefore often have found a slightly better score: on ten data sets, 0.4 points of accuracy with 80 trials
    in place of 24. On held-out rows this gain disappeared (-0.1 +- 0.2). The defaults were chosen on these same runs, which makes
    the comparison optimistic. A factor of 1 stops most searches at `min_trials`. A search that ignores its results is rarely
    stopped: the model expects more in the regions that it has not visited.

    References
    ----------
    Makarova, Shen, Perrone, Klein, Faddoul, Krause, Seeger, Archambeau 2022, "Automatic Termination for Hyperparameter
    Optimization" (a bound on the regret in place of the expected improvement).
    Nadeau, Bengio 2003, "Inference for the Generalization Error".

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> rng = np.random.default_rng(0)
    >>> study = Study({"x": uniform(0, 1)}, seed=0, noise=True)
    >>> _ = study.run(lambda p: (p["x"] - 0.3) ** 2 + 0.1 * rng.normal(), n_trials=60, stop=ImprovementBelowUncertainty())
    >>> study.n_finished < 60, study.findings["stop"]["stopped"]
    (True, True)
    """

    factor: float = 0.1
    patience: int = 5
    min_trials: int | None = None
    test_share: float | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.factor, Real) and 0 < self.factor < np.inf):
            raise ArgumentError(f"factor={self.factor!r} is not a multiple of the uncertainty; use a number above 0")
        for name in ("patience", "min_trials"):
            value = getattr(self, name)
            if name == "min_trials" and value is None:
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ArgumentError(f"{name}={value!r} is not a number of trials; use 1 or more")
        if self.test_share is not None and not (isinstance(self.test_share, Real) and 0 < self.test_share < 1):
            raise ArgumentError(f"test_share={self.test_share!r} is not between 0 and 1; use None for 1 / number of folds")

    def look(self, trials: Sequence[Trial], space: Space, *, sign: float, noise: Noise, seed: int) -> Look | None:
        """Examine finished trials; see `StopRule`.

        Parameters
        ----------
        trials : sequence of Trial
            The first finished trials of a study, by number.
        space : Space
            Its space.
        sign : float
            1 if a smaller value is better, -1 if a larger one is.
        noise : "auto" or bool
            Whether the objective is noisy, as `Study` takes it.
        seed : int
            The study's seed.

        Returns
        -------
        Look or None
            None below `min_trials`, where fewer than two trials have succeeded, or the model cannot be fitted.

        See Also
        --------
        StopRule.look : The interface.
        """
        n = len(trials)
        values = np.array([sign * t.value if t.value is not None and may_be_best(t) else np.nan for t in trials], dtype=float)
        ok = np.isfinite(values)
        least = max(20, 10 + 3 * space.domain.dimension) if self.min_trials is None else self.min_trials
        if n < least or ok.sum() < 2:
            return None
        points = np.array([t.point for t in trials])
        verdict = judge_noise(points[ok], values[ok]) if noise == "auto" else ("noisy" if noise else "deterministic")
        noisy = verdict != "deterministic"
        try:
            gain = expected_gain(space.domain, points, values, noisy=noisy, rng=np.random.default_rng([seed, _STREAM, n]))
        except NotPositiveDefiniteError as failure:
            _LOG.warning("the stop rule cannot look at %d trials: %s", n, failure)
            return None
        incumbent = trials[gain.incumbent]
        metric = tuned_metric([incumbent])
        scores = [] if metric is None else list(fold_scores(incumbent.extra, metric).values())
        if len(scores) > 1:
            return Look(n, gain.improvement, corrected_standard_error(scores, self.test_share), "folds")
        if noisy:
            return Look(n, gain.improvement, gain.incumbent_error, "noise")
        return Look(n, gain.improvement, float("nan"), "none")


def checked_stop(stop: Any) -> StopRule:
    """Return a stop rule; "uncertainty" is `ImprovementBelowUncertainty` with its defaults. Raise ArgumentError for others."""
    if isinstance(stop, str) and stop == "uncertainty":
        return ImprovementBelowUncertainty()
    if isinstance(stop, StopRule) and not isinstance(stop, type):
        return stop
    raise ArgumentError(f"stop={stop!r} is not a stop rule; use None, 'uncertainty' or ImprovementBelowUncertainty(...)")


def with_test_share(stop: Any, test_share: float) -> StopRule:
    """Return a stop rule with this share of test rows, unless it has one."""
    rule = checked_stop(stop)
    if isinstance(rule, ImprovementBelowUncertainty) and rule.test_share is None and 0 < test_share < 1:
        return replace(rule, test_share=test_share)
    return rule


FINDING = "stop"


class Stopper:
    """Applies a stop rule to a study after its trials; raises ArgumentError if the study has several objectives.

    Whether it stops after n trials depends on the first n that were told alone, so a resumed study ends where it would have.
    """

    def __init__(self, study: Any, ledger: Ledger, stop: Any):
        self._study, self._ledger, self._rule = study, ledger, checked_stop(stop)
        self._looks: dict[int, Look | None] = {}
        # the rule did not stop at the trials told before the last one was asked for
        self._judged = study.n_finished - ledger.n_told_since_asked
        self._stopped_at: int | None = None
        if study.objectives.several:
            raise ArgumentError(f"stop={stop!r} is for one objective, and the study has {len(study.objectives)}; leave it out")

    def reached(self) -> bool:
        """Return whether the rule has held for `patience` consecutive trials."""
        while self._stopped_at is None and self._judged < self._study.n_finished:
            self._judged += 1
            if all(self._says_stop(self._judged - k) for k in range(self._rule.patience)):
                self._stopped_at = self._judged
        return self._stopped_at is not None

    def _says_stop(self, n: int) -> bool:
        look = self._look(n)
        return look is not None and look.expected_improvement < self._rule.factor * look.uncertainty

    def _look(self, n: int) -> Look | None:
        if n not in self._looks:
            study = self._study
            trials = [study.trials[number] for number in self._ledger.told_numbers[:n]]
            space = study.space
            if study.profile is not None:
                space = study.profile.searched
                trials = [replace(t, point=tuple(study.profile.searched_point(t.point).tolist())) for t in trials]
            sign = float(study.objectives.signs[0])
            self._looks[n] = (
                self._rule.look(trials, space, sign=sign, noise=study.noise, seed=study.seed) if len(trials) == n > 0 else None
            )
        return self._looks[n]

    def report(self) -> None:
        """Store the decision of the rule as the finding "stop" of the study."""
        stopped = self.reached()
        n = self._study.n_finished if self._stopped_at is None else self._stopped_at
        look = self._look(n)
        finding: dict[str, Any] = {"stopped": stopped, "n_trials": n, "rule": repr(self._rule)}
        if look is not None:
            finding |= {"expected_improvement": look.expected_improvement, "uncertainty": look.uncertainty, "basis": look.basis}
        self._study.add_finding(FINDING, finding | {"sentence": stop_sentence(self._rule, n, look, stopped=stopped)})


_BASES = {
    "folds": "the standard error of the incumbent's score over its folds",
    "noise": "the standard error of what is predicted of the incumbent",
}


def stop_sentence(rule: StopRule, n: int, look: Look | None, *, stopped: bool) -> str:
    """Return a sentence on the decision of a stop rule after n trials, and its last figures.

    Examples
    --------
    >>> look = Look(30, 0.0004, 0.02, "folds")
    >>> stop_sentence(ImprovementBelowUncertainty(0.1, 5), 30, look, stopped=True)
    "The search stopped after 30 trials: the largest expected improvement, 0.0004, was below 0.1 times the uncertainty of the \
score for 5 trials in a row (0.02, the standard error of the incumbent's score over its folds)."
    """
    if look is None:
        return f"The stop rule did not stop the search: {n} trials are too few for it to judge."
    if look.basis == "none":
        return (
            "The stop rule did not stop the search: the objective is deterministic and tells no fold scores, so its value has no "
            "uncertainty to compare with."
        )
    basis = f"({look.uncertainty:.3g}, {_BASES[look.basis]})"
    times = "" if rule.factor == 1 else f"{rule.factor:g} times "
    if stopped:
        return (
            f"The search stopped after {n} trials: the largest expected improvement, {look.expected_improvement:.3g}, was below "
            f"{times}the uncertainty of the score for {rule.patience} trials in a row {basis}."
        )
    return (
        f"The stop rule did not stop the search: after {n} trials the largest expected improvement is "
        f"{look.expected_improvement:.3g}, and {times}the uncertainty of the score {rule.factor * look.uncertainty:.3g} {basis}."
    )
