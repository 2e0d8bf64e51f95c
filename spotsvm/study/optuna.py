"""Optuna: `SpotSampler` searches its studies as `Study` does; studies go from one library to the other.

This module needs Optuna, which spotsvm does not: `pip install "spotsvm[optuna]"`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform, randint, uniform

try:
    import optuna
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.trial import FrozenTrial, TrialState, create_trial
except ImportError as error:
    raise ImportError('spotsvm.study.optuna needs Optuna, which is not installed: pip install "spotsvm[optuna]"') from error

from spotsvm.common.errors import ArgumentError, SpaceError
from spotsvm.common.text import shown_value
from spotsvm.solvers.errors import SearchExhaustedError
from spotsvm.solvers.search import AskTell, Search, make_search
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.registry import SearchFactory
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, Parameter
from spotsvm.space.space import Space
from spotsvm.study.study import Study
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import as_float

__all__ = ["SpotSampler", "from_optuna", "to_optuna"]

Floats = NDArray[np.float64]
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class SpotSampler(BaseSampler):
    """A sampler for Optuna that suggests by a search of spotsvm.

    The parameters that all completed trials have are suggested together. The first trial, as long as they are unknown, and
    parameters that only some trials have are drawn at random; `search_space` names them from the first trial on. Trials that
    were pruned or have failed are failures to the search, and running ones are pending. Enqueued trials, and those that
    were there before, count as starts.

    Parameters
    ----------
    search : str or callable, default="kriging"
        As in `Study`, by name or by what makes one. Of several objectives "kriging" is "parego".
    seed : int or None, default=None
        Seed of every random choice; None draws one.
    noise : "auto" or bool, default="auto"
        As in `Study`.
    search_space : dict of str to optuna distribution, optional
        The parameters to suggest together.

    Raises
    ------
    SolverError
        At the first suggestion, if there is no such search.
    ArgumentError
        If `search_space` has no distributions.

    See Also
    --------
    spotsvm.Study : The same search without Optuna, with a record that survives a crash.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> study = optuna.create_study(sampler=SpotSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=12)
    >>> study.best_value < 0.001
    True
    """

    def __init__(
        self,
        search: str | SearchFactory = "kriging",
        seed: int | None = None,
        *,
        noise: Noise = "auto",
        search_space: Mapping[str, BaseDistribution] | None = None,
    ):
        if search_space is not None and not all(isinstance(one, BaseDistribution) for one in search_space.values()):
            raise ArgumentError(f"search_space={shown_value(search_space)} has values that are no distributions of Optuna")
        self.search, self.noise = search, noise
        self.seed = int(np.random.default_rng().integers(2**31)) if seed is None else int(seed)
        self._given = None if search_space is None else dict(search_space)
        self._intersection = IntersectionSearchSpace(include_pruned=True)
        self._random = RandomSampler(seed=self.seed)
        self._live: _Live | None = None
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock out."""
        return {key: value for key, value in self.__dict__.items() if key != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _turn=threading.Lock())

    def reseed_rng(self) -> None:
        """Draw another seed for the parameters that are drawn at random."""
        self._random.reseed_rng()

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters that are suggested together."""
        found = self._intersection.calculate(study) if self._given is None else self._given
        return {name: one for name, one in found.items() if not one.single()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the suggestion of the search, after it has been told of all other trials."""
        if not search_space or trial.system_attrs.get("fixed_params"):
            return {}
        with self._turn:
            live = self._searching(study, search_space)
            live.catch_up(study, trial.number)
            try:
                return live.ask(trial.number)
            except SearchExhaustedError:  # of a finite space, all of which has been seen
                return {}

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a random value of a parameter that is not suggested together with others."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def _searching(self, study: optuna.Study, search_space: Mapping[str, BaseDistribution]) -> _Live:
        """Return the search of a study, made anew where the study or its parameters are others."""
        key = (study.study_name, repr(list(search_space.items())), tuple(study.directions))
        if self._live is None or self._live.key != key:
            signs = np.array([-1.0 if one == optuna.study.StudyDirection.MAXIMIZE else 1.0 for one in study.directions])
            several = len(signs) > 1
            name = "parego" if several and self.search == "kriging" else self.search
            coding = _Coding(search_space)
            search = make_search(name, coding.space.domain, self.seed, noise=self.noise, n_objectives=len(signs))
            self._live = _Live(key, search, coding, signs if several else signs[0])
        return self._live


@dataclass
class _Live:
    """A search, the points that it knows to be running, and the trials that it has been told of."""

    key: tuple[Any, ...]
    search: AskTell
    coding: _Coding
    signs: Any
    running: dict[int, Floats] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)

    def catch_up(self, study: optuna.Study, but: int) -> None:
        """Tell the search of the trials that have ended since, by number, and of those that others are evaluating."""
        for t in sorted(study.get_trials(deepcopy=False), key=lambda t: t.number):
            if t.number in self.told or t.number == but or t.state not in (*_ENDED, TrialState.RUNNING):
                continue
            if t.number not in self.running and not self._assume(t):
                continue
            if t.state in _ENDED:
                given: Any = np.nan if t.state != TrialState.COMPLETE else t.values if np.ndim(self.signs) else t.value
                self.search.tell(self.running.pop(t.number), self.signs * given)
                self.told.add(t.number)

    def _assume(self, trial: FrozenTrial) -> bool:
        """Take a trial that the search did not suggest as one that it was given; return whether it is in the space."""
        try:
            point = self.coding.point(trial.params)
        except (KeyError, SpaceError, ValueError):
            return False
        if isinstance(self.search, Search):
            self.search.assume(point, given=True)
        self.running[trial.number] = point
        return True

    def ask(self, number: int) -> dict[str, Any]:
        answer: Any = self.search.ask()
        point = self.coding.space.domain.snap_one(getattr(answer, "point", answer))
        self.running[number] = point
        return self.coding.params(point)


class _Coding:
    """Distributions of Optuna as a space: steps and choices are counted, so that their values are exact."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]):
        self._distributions = dict(distributions)
        self.space = Space({name: _counted(one) for name, one in distributions.items()})

    def point(self, params: Mapping[str, Any]) -> Floats:
        """Return the point for the values of a trial, which may have further ones."""
        return self.space.encode({name: _code(one, params[name]) for name, one in self._distributions.items()})

    def params(self, point: Floats) -> dict[str, Any]:
        """Return the values at a point."""
        codes = self.space.decode(point)
        return {name: _value(one, codes[name]) for name, one in self._distributions.items()}


def _counted(one: BaseDistribution) -> Any:
    match one:
        case CategoricalDistribution():
            return [str(k) for k in range(len(one.choices))]
        case IntDistribution(log=True):
            return loguniform(max(one.low - 0.5, 0.5), one.high + 0.5)
        case FloatDistribution(step=None):
            return loguniform(one.low, one.high) if one.log else uniform(one.low, one.high - one.low)
        case FloatDistribution() | IntDistribution():
            step: Any = one.step
            return randint(0, round((one.high - one.low) / step) + 1)
    raise ArgumentError(f"{one!r} is not a distribution that spotsvm knows; use a float, an int or a categorical one")


def _code(one: BaseDistribution, value: Any) -> Any:
    match one:
        case CategoricalDistribution():
            return str(int(one.to_internal_repr(value)))
        case IntDistribution(log=True) | FloatDistribution(step=None):
            return float(value)
        case FloatDistribution() | IntDistribution():
            step: Any = one.step
            return round((value - one.low) / step)
    raise ArgumentError(f"{one!r} is not a distribution that spotsvm knows")


def _value(one: BaseDistribution, code: Any) -> Any:
    match one:
        case CategoricalDistribution():
            return one.choices[int(code)]
        case IntDistribution(log=True):
            return min(max(round(code), one.low), one.high)
        case IntDistribution():
            return one.low + code * one.step
        case FloatDistribution(step=None):
            return min(max(code, one.low), one.high)
        case FloatDistribution():
            step: Any = one.step
            return min(one.low + code * step, one.high)
    raise ArgumentError(f"{one!r} is not a distribution that spotsvm knows")


def from_optuna(study: optuna.Study, space: Any = None, **options: Any) -> Study:
    """Return a study with the finished trials of one of Optuna's, each as by `Study.add_trial`.

    Trials that were pruned or have failed are failed trials; numbers among the user attributes are further numbers.

    Parameters
    ----------
    study : optuna.Study
        The study.
    space : dict or list of dict, optional
        As `Study` takes it. None is made from the distributions of the trials, with a dictionary for each set of parameters that
        trials have.
    **options
        The further arguments of `Study` but for `direction`. Of several objectives the search is "parego" by default.

    Returns
    -------
    Study

    Raises
    ------
    ArgumentError
        If the study has no finished trial and there is no `space`; if a parameter has distributions of two kinds.
    SpaceError
        If a trial is not in the space.

    See Also
    --------
    to_optuna : The other way.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> theirs = optuna.create_study(direction="maximize")
    >>> theirs.optimize(lambda trial: trial.suggest_int("n", 1, 9), n_trials=3)
    >>> ours = from_optuna(theirs, seed=0)
    >>> ours.n_finished, ours.best_trial.value == theirs.best_value
    (3, True)
    """
    trials = [t for t in study.get_trials(deepcopy=False) if t.state in _ENDED and t.params]
    directions = [one.name.lower() for one in study.directions]
    direction: Any = directions[0] if len(directions) == 1 else directions
    if len(directions) > 1:
        options.setdefault("search", "parego")
    made = Study(_space_of(trials) if space is None else space, direction=direction, **options)
    for t in trials:
        numbers = {name: number for name, one in t.user_attrs.items() if (number := as_float(one)) is not None}
        numbers.pop("value", None)
        seconds = None if t.duration is None else t.duration.total_seconds()
        values: Any = np.nan if t.state != TrialState.COMPLETE else list(t.values) if len(directions) > 1 else t.value
        key = "values" if len(directions) > 1 and t.state == TrialState.COMPLETE else "value"
        made.add_trial(t.params, {**numbers, key: values}, seconds=seconds)
    return made


def _space_of(trials: Sequence[FrozenTrial]) -> list[dict[str, Any]]:
    if not trials:
        raise ArgumentError("study has no finished trial with parameters to make a space of; give the space")
    found: dict[str, list[BaseDistribution]] = {}
    for t in trials:
        for name, one in t.distributions.items():
            if one not in found.setdefault(name, []):
                found[name].append(one)
    definitions = {name: _widest(name, several) for name, several in found.items()}
    groups = dict.fromkeys(frozenset(t.params) for t in trials)
    return [{name: what for name, what in definitions.items() if name in group} for group in groups]


def _widest(name: str, several: Sequence[Any]) -> Any:
    first = several[0]
    if any(type(one) is not type(first) or isinstance(one, CategoricalDistribution) for one in several[1:]):
        raise ArgumentError(f"{name} has other distributions in other trials, {several[0]!r} and {several[1]!r}; give the space")
    if isinstance(first, CategoricalDistribution):
        return list(first.choices)
    low, high = min(one.low for one in several), max(one.high for one in several)
    if first.single() and len(several) == 1:
        return [low]
    if isinstance(first, IntDistribution):
        return randint(low, high + 1) if first.step == 1 else list(range(low, high + 1, first.step))
    if first.step is not None:
        return [_value(first, k) for k in range(round((first.high - first.low) / first.step) + 1)]
    return loguniform(low, high) if first.log else uniform(low, high - low)


def to_optuna(study: StudyResults, **options: Any) -> optuna.Study:
    """Return a study of Optuna's with the finished trials of one of ours, to be gone on with or drawn there.

    Timeouts are failed trials. Origin, reason and further numbers of a trial are user attributes; values of a list that Optuna
    cannot store, such as estimators, are texts.

    Parameters
    ----------
    study : Study
        A study, or one that `load_study` has read.
    **options
        For optuna.create_study, such as `storage`, `study_name` and `sampler`.

    Returns
    -------
    optuna.Study

    See Also
    --------
    from_optuna : The other way.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> ours = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
    >>> to_optuna(ours).best_params
    {'x': 1}
    """
    made = optuna.create_study(directions=list(study.objectives.directions), **options)
    for t in study.trials:
        if t.state == "running":
            continue
        branch = int(study.space.domain.level_of(t.point)[0, 0]) if len(study.space.branches) > 1 else 0
        parameters = study.space.branches[branch]
        more = {"origin": t.origin, **t.extra} | ({"reason": t.reason} if t.reason else {})
        made.add_trial(
            create_trial(
                state=TrialState.COMPLETE if t.values is not None else TrialState.FAIL,
                values=None if t.values is None else list(t.values),
                params={name: _stored(value) for name, value in t.params.items()},
                distributions={name: _distribution(parameters[name]) for name in t.params},
                user_attrs=more,
            )
        )
    return made


def _distribution(parameter: Parameter) -> BaseDistribution:
    match parameter:
        case ContinuousParameter(low=low, high=high):
            return FloatDistribution(low, high, log=scale_of(parameter) == "log")
        case IntegerParameter(low=low, high=high):
            return IntDistribution(low, high)
        case ChoiceParameter(values=values):
            return CategoricalDistribution([_stored(value) for value in values])
    raise ArgumentError(f"{parameter!r} is not a parameter that Optuna knows")


def _stored(value: Any) -> Any:
    """Return a value as Optuna can store it."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
