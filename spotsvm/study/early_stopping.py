"""Early-stopping rules, each a callable that takes a running trial with its reported steps and returns the reason to stop it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, NotPositiveDefiniteError
from spotsvm.surrogates.kriging.kriging import Kriging
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.trials.evaluation import CurrentTrial
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.trial import EXTRAPOLATED, Trial

Floats = NDArray[np.float64]
Step = tuple[float, float]

#: finished trials whose steps the model sees, the nearest ones, and steps of each
_MOST_TRIALS, _MOST_STEPS = 30, 5


class EarlyStopping(Protocol):
    """The interface of an early-stopping rule for `Study.run`: a callable that takes a trial and returns the reason to stop it.

    `CurrentTrial.should_stop` calls the rule, in the process that evaluates the trial. The trial's `steps` are the reported
    steps, and `finished` are the trials to compare with. The rule must depend on these alone: then a resumed study has the same
    trials.

    See Also
    --------
    ImprovementUnlikely : The default rule.
    BelowMedian : The rule that compares with the median of the finished trials.
    StopRule : The interface of a rule that ends the run.

    Examples
    --------
    A rule that stops a trial that is worse after its third step than every finished trial was there:

    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> def worst(trial):
    ...     others = [t.steps[2][1] for t in trial.finished if len(t.steps) > 2]
    ...     if (
    ...         len(trial.steps) == 3
    ...         and len(others) >= 5
    ...         and trial.steps[2][1] > max(others)
    ...     ):
    ...         return "it is the worst after three steps"
    >>> def objective(params, trial):
    ...     for step in range(1, 11):
    ...         value = params["x"] + 1 / step
    ...         trial.report(step, value)
    ...         if trial.should_stop():
    ...             break
    ...     return value
    >>> study = Study({"x": uniform(0, 1)}, "random", seed=0).run(
    ...     objective, n_trials=20, early_stopping=worst
    ... )
    >>> [(t.number, t.reason) for t in study.trials if t.state == "stopped"]
    [(18, 'it is the worst after three steps')]
    """

    def __call__(self, trial: CurrentTrial, /) -> str | None:
        """Return the reason to stop the trial, or None to go on."""
        ...


@dataclass(frozen=True)
class ImprovementUnlikely:
    """Stop a trial that is unlikely to become better than the best finished trial, by a model of the learning curves.

    A Kriging model of all reported values over the parameters and the logarithm of the step predicts the value at the last step
    of the complete trials. The trial stops where the probability of an improvement is below `probability`.

    Parameters
    ----------
    probability : float, default=0.05
        Probability of an improvement below which a trial stops.
    patience : int, default=3
        Number of consecutive steps for which this must hold.
    min_trials : int, default=5
        Complete trials before the first one is stopped.

    See Also
    --------
    BelowMedian : A rule without a model.
    EarlyStopping : The interface of your own rules.

    Notes
    -----
    The model is fitted once a trial, to five steps of each of the 30 finished trials with the nearest parameters, and then
    conditioned on the trial's own steps: about 25 ms a trial and 0.6 ms a step. Values v are modelled as arsinh((v - best) /
    scale), where the scale is the median distance of the complete trials from the best of them: trials that diverge do not
    blunt the model.

    References
    ----------
    Swersky, Snoek, Adams 2014, "Freeze-Thaw Bayesian Optimization" (a Gaussian process over learning curves); Domhan,
    Springenberg, Hutter 2015, "Speeding up automatic hyperparameter optimization of deep neural networks by extrapolation of
    learning curves" (the 5 % probability of an improvement).

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> def objective(params, trial):
    ...     for step in range(1, 21):
    ...         value = (params["x"] - 0.3) ** 2 + 1 / step
    ...         trial.report(step, value)
    ...         if trial.should_stop():
    ...             break
    ...     return value
    >>> study = Study({"x": uniform(0, 1)}, seed=0).run(
    ...     objective, n_trials=20, early_stopping=ImprovementUnlikely()
    ... )
    >>> (
    ...     sum(len(t.steps) for t in study.trials) < 350,
    ...     round(study.recommend().params["x"], 2),
    ... )
    (True, 0.3)
    """

    probability: float = 0.05
    patience: int = 3
    min_trials: int = 5

    def __post_init__(self) -> None:
        if not (isinstance(self.probability, Real) and 0 < self.probability < 1):
            raise ArgumentError(f"probability={self.probability!r} is not between 0 and 1; use a small one, such as 0.05")
        _check_numbers(self, patience="steps", min_trials="trials")

    def __call__(self, trial: CurrentTrial) -> str | None:
        """Return the reason to stop, in a sentence, or None."""
        complete = _complete(trial)
        last = _last_step(complete)
        if len(complete) < self.min_trials or trial.steps[-1][0] >= last or not any(map(may_be_best, complete)):
            return None
        try:
            with one_blas_thread():
                if trial not in _MODELS:
                    _MODELS[trial] = _CurveModel(trial, complete, last)
                chance = _MODELS[trial].chance(trial)
        except NotPositiveDefiniteError:
            return None
        unlikely = _UNLIKELY.setdefault(trial, Counter())
        unlikely[self] = unlikely[self] + 1 if chance < self.probability else 0
        if unlikely[self] < self.patience:
            return None
        return f"the probability of an improvement by step {last:g} is {chance:.2g} after step {trial.steps[-1][0]:g}"


@dataclass(frozen=True)
class BelowMedian:
    """Stop a trial whose best value so far is worse than the median of the finished trials' running means at the same step.

    Parameters
    ----------
    min_trials : int, default=5
        Complete trials before the first one is stopped.
    min_steps : int, default=1
        Steps of each trial before it may be stopped.

    See Also
    --------
    ImprovementUnlikely : The rule with a model.
    EarlyStopping : The interface of your own rules.

    References
    ----------
    Golovin, Solnik, Moitra, Kochanski, Karro, Sculley 2017, "Google Vizier: A Service for Black-Box Optimization", section 3.2.1
    (the median stopping rule).

    Examples
    --------
    >>> BelowMedian(min_steps=3)
    BelowMedian(min_trials=5, min_steps=3)
    """

    min_trials: int = 5
    min_steps: int = 1

    def __post_init__(self) -> None:
        _check_numbers(self, min_trials="trials", min_steps="steps")

    def __call__(self, trial: CurrentTrial) -> str | None:
        """Return the reason to stop, in a sentence, or None."""
        complete = _complete(trial)
        step = trial.steps[-1][0]
        last = _last_step(complete)
        if len(complete) < self.min_trials or len(trial.steps) < self.min_steps or step >= last:
            return None
        before = [[value for at, value in t.steps if at <= step] for t in complete]
        means = [trial.sign * float(np.mean(values)) for values in before if values]
        best = min(trial.sign * value for _, value in trial.steps)
        if not means or best <= np.median(means):
            return None
        return f"its best value is worse than the median of {len(means)} trials after step {step:g}"


def _check_numbers(rule: Any, **names: str) -> None:
    """Raise ArgumentError if an attribute of a rule is below 1 or not an integer; `names` says what each attribute counts."""
    for name, what in names.items():
        value = getattr(rule, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ArgumentError(f"{name}={value!r} is not a number of {what}; use 1 or more")


def _complete(trial: CurrentTrial) -> list[Trial]:
    """Return the finished trials that reported steps and were not stopped."""
    return [t for t in trial.finished if t.state == "ok" and t.value is not None and t.steps]


def _last_step(complete: Sequence[Trial]) -> float:
    """Return the last step of complete trials, or 0."""
    return max((t.steps[-1][0] for t in complete), default=0.0)


class _CurveModel:
    """A Kriging model of the learning curves of finished trials, over the parameters and the logarithm of the step.

    It predicts the value of one running trial at the step `last`. `complete` are the trials that may be improved on.
    """

    def __init__(self, trial: CurrentTrial, complete: Sequence[Trial], last: float):
        finals = np.array([trial.sign * t.value for t in complete if t.value is not None and may_be_best(t)] or [np.nan])
        self._best = float(finals.min())
        self._scale = float(np.median(finals - self._best)) or float(np.ptp(finals)) or 1.0
        self._last = last
        curves = [t for t in trial.finished if t.steps]
        distances = [float(np.sum(np.square(np.subtract(t.point, trial.point)))) for t in curves]
        nearest = [curves[k] for k in np.argsort(distances, kind="stable")[:_MOST_TRIALS]]
        rows = [self._rows(trial, t.point, _spread(t.steps)) for t in nearest]
        categorical = np.flatnonzero(trial.domain.categorical).tolist()
        self._model = Kriging("matern52", n_restarts=2, theta_bounds=(1e-3, 100.0), categorical=categorical, random_state=0)
        self._model.fit(np.vstack([inputs for inputs, _ in rows]), np.concatenate([values for _, values in rows]))

    def _rows(self, trial: CurrentTrial, point: Sequence[float], steps: Sequence[Step]) -> tuple[Floats, Floats]:
        """Return inputs and responses of the model for the steps of a trial at a point."""
        at, values = np.array(steps).T
        inputs = np.tile(trial.domain.model_inputs(point), (len(at), 1))
        return np.column_stack([inputs, np.log1p(at)]), np.arcsinh((trial.sign * values - self._best) / self._scale)

    def _predicted(self, trial: CurrentTrial) -> tuple[float, float]:
        """Return the response predicted for the last step, and its standard error; the response of the best value is 0."""
        model = self._model.extend(*self._rows(trial, trial.point, _spread(trial.steps)))
        mean, error = model.predict(self._rows(trial, trial.point, [(self._last, 0.0)])[0], return_std=True)
        return float(mean[0]), float(error[0])

    def chance(self, trial: CurrentTrial) -> float:
        """Return the probability that the trial would improve on the best value."""
        mean, error = self._predicted(trial)
        return float(norm.cdf(-mean / error)) if error > 0 else float(mean < 0)

    def value(self, trial: CurrentTrial) -> float:
        """Return the value predicted for the last step, or the best value if that is worse."""
        return trial.sign * (self._best + self._scale * float(np.sinh(max(self._predicted(trial)[0], 0.0))))


def with_extrapolation(outcome: Outcome, trial: CurrentTrial) -> Outcome:
    """Return the outcome of a trial, if it was stopped with the value predicted for the last step of the complete trials.

    The predicted value is never better than that of the best complete trial. Without a model it is the last reported value. An
    outcome that already has a predicted value is returned unchanged.
    """
    if outcome.state != "stopped" or EXTRAPOLATED in outcome.extra:
        return outcome
    complete = _complete(trial)
    last, value = _last_step(complete), float("nan")
    if trial.steps[-1][0] < last and any(map(may_be_best, complete)):
        with suppress(NotPositiveDefiniteError), one_blas_thread():
            value = _CurveModel(trial, complete, last).value(trial)
    return replace(outcome, extra={**outcome.extra, EXTRAPOLATED: value if np.isfinite(value) else trial.steps[-1][1]})


def _spread(steps: Sequence[Step]) -> list[Step]:
    """Return a few of the reported steps, evenly spread in the logarithm; the first and the last are among them."""
    at = np.log1p([step for step, _ in steps])
    return [steps[k] for k in sorted({int(np.argmin(np.abs(at - goal))) for goal in np.linspace(at[0], at[-1], _MOST_STEPS)})]


_MODELS: WeakKeyDictionary[CurrentTrial, _CurveModel] = WeakKeyDictionary()
#: for each running trial and rule, the number of latest steps in a row after which an improvement was unlikely
_UNLIKELY: WeakKeyDictionary[CurrentTrial, Counter[ImprovementUnlikely]] = WeakKeyDictionary()

_RULES: dict[str, Callable[[], EarlyStopping]] = {"improvement": ImprovementUnlikely, "median": BelowMedian}


def checked_early_stopping(rule: Any) -> EarlyStopping | None:
    """Return the early-stopping rule for a name, a callable or None; raise ArgumentError for anything else."""
    if rule is None:
        return None
    if isinstance(rule, str) and rule in _RULES:
        return _RULES[rule]()
    if callable(rule) and not isinstance(rule, type):
        checked: EarlyStopping = rule
        return checked
    raise ArgumentError(
        f"early_stopping={shown_value(rule)} is not an early-stopping rule; use 'improvement', 'median', None, or a callable "
        "that takes the trial and returns the reason to stop it, or None"
    )
