"""What ends a run: its time, failures, and stop rules, each a callable that takes the study and returns the reason, or None."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from time import monotonic
from typing import Any, Literal, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from spotsvm.common.text import counted, shown_value
from spotsvm.errors import ArgumentError, FirstTrialsFailedError, NotPositiveDefiniteError
from spotsvm.luck.fold_bias import corrected_standard_error, scores_by_fold, tuned_metric
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.surrogates.acquisition.expected_gain import expected_gain
from spotsvm.surrogates.responses import judge_noise
from spotsvm.trials.findings import TIMEOUT, Stop, TimedOut
from spotsvm.trials.recommendation import commonest_reasons, kind_of_reason, may_be_best
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial

_LOG = logging.getLogger(__name__)

_STREAM = 1 << 42


class StopRule(Protocol):
    """The interface of a stop rule for `Study.run`: a callable that takes the study and returns the reason to stop, or None.

    It is called after each trial, and must depend on the finished trials of the study alone: then a study that is resumed ends
    where it would have ended. Trials under way are finished.

    Parameters
    ----------
    study : Study
        The study, with the finished trials.

    Returns
    -------
    str or None
        The reason to stop, as one sentence for the record and the report; None to go on.

    See Also
    --------
    ImprovementBelowUncertainty : The built-in rule.
    check_stop_rule : Checks a rule of your own.
    StopRun : Ends a run at once.

    Examples
    --------
    A rule that ends a run once five trials in a row are no better than the best before them:

    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> def stalled(study):
    ...     values = [t.value for t in study.finished_trials if t.state == "ok"]
    ...     if len(values) > 10 and min(values[-5:]) >= min(values[:-5]):
    ...         return "five trials are no better than those before them"
    >>> study = Study({"x": uniform(-1, 2)}, seed=0).run(
    ...     lambda p: p["x"] ** 2, n_trials=40, stop=stalled
    ... )
    >>> study.n_finished < 40, study.findings["stop"]["sentence"]
    (True, 'five trials are no better than those before them')
    """

    def __call__(self, study: Any, /) -> str | None:
        """Return the reason to stop, or None to go on."""
        ...


@dataclass(frozen=True)
class StopFigures:
    """The figures that `ImprovementBelowUncertainty` computes after some trials, in the unit of the value.

    `uncertainty` is nan if there is none; its `basis` is the incumbent's folds, the noise, or neither.
    """

    n_trials: int
    expected_improvement: float
    uncertainty: float
    basis: Literal["folds", "noise", "none"]


@dataclass(frozen=True)
class ImprovementBelowUncertainty:
    """Stop when the largest expected improvement is below the uncertainty of the score, several trials in a row.

    A Kriging model of the trials gives the expected improvement, whatever search they come from. If the value is a mean of fold
    scores, the uncertainty is the standard error of the incumbent's score, corrected for the overlap of the folds' training rows;
    otherwise, under noise, it is the standard error of the incumbent's predicted mean. A deterministic objective without fold
    scores has no uncertainty, and its search is never stopped.

    Parameters
    ----------
    factor : float, default=0.1
        Multiple of the uncertainty that the improvement must be below.
    patience : int, default=5
        Number of consecutive trials for which this must hold.
    min_trials : int or None, default=None
        Finished trials before the first decision; None is 10 plus 3 for each parameter, but at least 20: with fewer trials, the
        model underestimates its uncertainty.
    test_share : float or None, default=None
        Share of the rows in the test part of a fold; None is 1 / number of folds. `SpotSearchCV` sets it.

    See Also
    --------
    StopRule : The interface of your own rules.
    Study.run : Takes it as `stop`.

    Notes
    -----
    The uncertainty is that of one score; the difference of two configurations on the same folds is more certain. A longer search
    would therefore often have found a slightly better score: on ten data sets, 0.4 points of accuracy with 80 trials in place of
    24. On held-out rows this gain disappeared (-0.1 +- 0.2). The defaults were chosen on these same runs, which makes the
    comparison optimistic. A factor of 1 stops most searches at `min_trials`. A search that ignores its results is rarely stopped:
    the model expects improvements where there are no trials.

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
    >>> _ = study.run(
    ...     lambda p: (p["x"] - 0.3) ** 2 + 0.1 * rng.normal(),
    ...     n_trials=60,
    ...     stop=ImprovementBelowUncertainty(),
    ... )
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

    def __call__(self, study: StudyResults) -> str | None:
        """Return the reason to stop, in a sentence, or None."""
        n = study.n_finished
        held = (self._holds(self._look(study, n - k)) for k in range(self.patience))
        return self._sentence(n, self._look(study, n), stopped=True) if all(held) else None

    def figures(self, study: StudyResults, *, stopped: bool) -> dict[str, Any]:
        """Return the entries of the finding "stop" by which the rule explains its decision.

        Returns
        -------
        dict
            The sentence and, once the rule has been evaluated, its figures by name.
        """
        n = study.n_finished
        look = self._look(study, n)
        found: dict[str, Any] = {"sentence": self._sentence(n, look, stopped=stopped)}
        if look is not None:
            found |= {"expected_improvement": look.expected_improvement, "uncertainty": look.uncertainty, "basis": look.basis}
        return found

    def _holds(self, look: StopFigures | None) -> bool:
        return look is not None and look.expected_improvement < self.factor * look.uncertainty

    def _look(self, study: StudyResults, n: int) -> StopFigures | None:
        """Return the figures after the first n finished trials of a study, which are computed once."""
        known = _LOOKS.setdefault(study, {})
        if (self, n) not in known:
            trials, space = study.finished_trials[: max(n, 0)], study.space
            if study.swept is not None:
                searched = study.swept.searched_point
                trials, space = tuple(replace(t, point=tuple(searched(t.point).tolist())) for t in trials), study.swept.searched
            sign = float(study.objectives.signs[0])
            known[self, n] = self.look(trials, space, sign=sign, noise=study.noise, seed=study.seed) if trials else None
        return known[self, n]

    def look(self, trials: Sequence[Trial], space: Space, *, sign: float, noise: Noise, seed: int) -> StopFigures | None:
        """Compute the figures on which the rule decides.

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
        StopFigures or None
            None below `min_trials`, where fewer than two trials have succeeded, or the model cannot be fitted.
        """
        n = len(trials)
        values = np.array([sign * t.value if t.value is not None and may_be_best(t) else np.nan for t in trials], dtype=float)
        ok = np.isfinite(values)
        least = max(20, 10 + 3 * space.domain.dimension) if self.min_trials is None else self.min_trials
        if n < least or ok.sum() < 2:
            return None
        points = np.array([t.point for t in trials])
        verdict = judge_noise(points[ok], values[ok], noise)
        noisy = verdict != "deterministic"
        try:
            gain = expected_gain(space.domain, points, values, noisy=noisy, rng=np.random.default_rng([seed, _STREAM, n]))
        except NotPositiveDefiniteError as failure:
            _LOG.warning("the stop rule cannot judge %d trials: %s", n, failure)
            return None
        incumbent = trials[gain.incumbent]
        metric = tuned_metric([incumbent])
        scores = [] if metric is None else list(scores_by_fold(incumbent.extra, metric).values())
        if len(scores) > 1:
            return StopFigures(n, gain.improvement, corrected_standard_error(scores, self.test_share), "folds")
        if noisy:
            return StopFigures(n, gain.improvement, gain.incumbent_error, "noise")
        return StopFigures(n, gain.improvement, float("nan"), "none")

    def _sentence(self, n: int, look: StopFigures | None, *, stopped: bool) -> str:
        """Return a sentence on the decision after n trials, and its last figures."""
        if look is None:
            return f"The stop rule did not stop the search: too little is known after {counted(n, 'trial')}."
        if look.basis == "none":
            return (
                "The stop rule did not stop the search: the objective is deterministic and returns no fold scores, so its value "
                "has no uncertainty to compare with."
            )
        basis = f"({look.uncertainty:.3g}, {_BASES[look.basis]})"
        times = "" if self.factor == 1 else f"{self.factor:g} times "
        if stopped:
            return (
                f"The search stopped after {n} trials: the largest expected improvement, {look.expected_improvement:.3g}, was "
                f"below {times}the uncertainty of the score for {self.patience} trials in a row {basis}."
            )
        return (
            f"The stop rule did not stop the search: after {n} trials the largest expected improvement is "
            f"{look.expected_improvement:.3g}, and {times}the uncertainty of the score {self.factor * look.uncertainty:.3g} "
            f"{basis}."
        )


_BASES = {
    "folds": "the standard error of the incumbent's score over its folds",
    "noise": "the standard error of the incumbent's predicted mean",
}
_LOOKS: WeakKeyDictionary[StudyResults, dict[tuple[ImprovementBelowUncertainty, int], StopFigures | None]] = WeakKeyDictionary()


def checked_stop(stop: Any) -> StopRule:
    """Return a stop rule; "uncertainty" is `ImprovementBelowUncertainty` with its defaults. Raise ArgumentError for others."""
    if isinstance(stop, str) and stop == "uncertainty":
        return ImprovementBelowUncertainty()
    if callable(stop) and not isinstance(stop, type):
        rule: StopRule = stop
        return rule
    raise ArgumentError(
        f"stop={stop!r} is not a stop rule; use None, 'uncertainty', ImprovementBelowUncertainty(...), or a callable that takes "
        "the study and returns the reason to stop, or None"
    )


def with_test_share(stop: Any, test_share: float) -> StopRule:
    """Return a stop rule with this share of test rows, unless it has one."""
    rule = checked_stop(stop)
    if isinstance(rule, ImprovementBelowUncertainty) and rule.test_share is None and 0 < test_share < 1:
        return replace(rule, test_share=test_share)
    return rule


class AppliedRule:
    """A stop rule during a run: called once for each number of finished trials, so that a resumed study ends where it would have.

    Raises ArgumentError if the rule is for one objective, and the study has several.
    """

    def __init__(self, study: StudyResults, stop: Any):
        self._rule = checked_stop(stop)
        # the rule did not stop at the trials that were finished before the last one was asked for
        self._judged = study.n_finished - study.n_finished_since_asked
        self._stopped: tuple[int, str] | None = None
        if study.objectives.several and isinstance(self._rule, ImprovementBelowUncertainty):
            raise ArgumentError(f"stop={stop!r} is for one objective, and the study has {len(study.objectives)}; leave it out")

    def __call__(self, study: StudyResults) -> str | None:
        """Return the reason to stop, or None; a rule that has given a reason is not called again."""
        while self._stopped is None and self._judged < study.n_finished:
            self._judged += 1
            reason = self._rule(study.after(self._judged))
            if reason is not None and not isinstance(reason, str):
                raise ArgumentError(f"stop={self._rule!r} returned {shown_value(reason)}; return the reason as text, or None")
            if reason is not None:
                self._stopped = (self._judged, reason)
        return None if self._stopped is None else self._stopped[1]

    def finding(self, study: StudyResults) -> Stop:
        """Return the finding "stop": the decision of the rule, and why."""
        reason = self(study)
        n = study.n_finished if self._stopped is None else self._stopped[0]
        figures: dict[str, Any] = {"sentence": reason or f"The stop rule did not stop the search after {counted(n, 'trial')}."}
        if isinstance(self._rule, ImprovementBelowUncertainty):
            figures = self._rule.figures(study.after(n), stopped=reason is not None)
        return Stop(reason is not None, n, repr(self._rule), **figures)


def checked_timeout(timeout: float | None, name: str = "trial_timeout") -> float | None:
    """Return the timeout, or raise ArgumentError if it is not a time."""
    is_number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    if timeout is not None and not (is_number and 0 < timeout <= threading.TIMEOUT_MAX):
        raise ArgumentError(f"{name}={shown_value(timeout)} is not a time; use a positive number of seconds, or None")
    return timeout


class TimeLimit:
    """The stop rule that limits the wall seconds of a run from its creation; at least one trial is run in any case.

    Of the seconds a run has a `share`; what follows it has the rest.
    """

    def __init__(self, seconds: float, share: float = 1.0):
        self.seconds, self._share, self._began = seconds, share, monotonic()
        self._reached = False

    @property
    def left(self) -> float:
        """Remaining seconds of the run."""
        return self.left_after - (1.0 - self._share) * self.seconds

    @property
    def left_after(self) -> float:
        """Remaining seconds of the run and of what follows it."""
        return self._began + self.seconds - monotonic()

    def __call__(self, study: StudyResults) -> str | None:
        """Return the reason to stop if the time is up, else None; once given, it stays."""
        self._reached = self._reached or (study.n_finished > 0 and self.left <= 0.0)
        return "the time of the run is up" if self._reached else None

    def finding(self, study: StudyResults) -> TimedOut | None:
        """Return the finding "timeout" if the limit has ended the run, or if an earlier run has left one; else None."""
        if not self._reached and TIMEOUT not in study.findings:
            return None
        n = study.n_finished
        how = "because its time was up" if self._reached else "within its time"
        of = "" if self._share == 1.0 else f", of which trials have {self._share:.0%}".replace("%", " %")
        sentence = f"The run ended after {counted(n, 'trial')}, {how} (timeout={self.seconds:.4g} s{of})."
        return TimedOut(sentence, bool(self._reached), n, float(self.seconds))


class FirstFailures:
    """The stop rule of a run whose first trials all fail for the same reason, in a study in which none has succeeded.

    Reasons that differ only in numbers are the same. A timeout is not such a failure. `most=None` allows any number of failures;
    `study` is the study at the start of the run.
    """

    def __init__(self, study: StudyResults, most: int | None):
        self._before, self._most = study.n_finished, most

    def __call__(self, study: StudyResults) -> str | None:
        """Return the reason to stop once the last trial that may fail has failed, else None."""
        first = study.finished_trials[self._before :][: self._most]
        if self._most is None or len(first) < self._most or self._has_succeeded(study):
            return None
        if any(t.state != "failed" for t in first) or len({kind_of_reason(t.reason) for t in first}) > 1:
            return None
        several = "The first trial failed" if self._most == 1 else f"The first {self._most} trials failed for the same reason"
        return f"{several}: {first[-1].reason}; with max_failures=None the run goes on all the same"

    def at_end(self, study: StudyResults) -> str | None:
        """Return the error text of a run that has ended without a successful trial; None if any number of trials may fail."""
        failed = study.finished_trials[self._before :]
        if self._most is None or not failed or self._has_succeeded(study):
            return None
        which = "The only trial of the run" if len(failed) == 1 else f"All {len(failed)} trials of the run"
        reasons = commonest_reasons([t.reason for t in failed])
        return f"{which} failed: {reasons}; with max_failures=None this is no error"

    @staticmethod
    def _has_succeeded(study: StudyResults) -> bool:
        return any(t.state in ("ok", "stopped") for t in study.trials)


def first_trials_failed(said: str, last: Trial) -> FirstTrialsFailedError:
    """Return the error of a run that failures have ended, with the traceback of its last trial as a note."""
    error = FirstTrialsFailedError(said)
    if last.traceback:
        error.add_note(last.traceback)
    return error
