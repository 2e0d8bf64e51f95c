"""A sampler for Optuna that suggests by a search of spotsvm."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.trial import FrozenTrial, TrialState

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, SearchExhaustedError, SpaceError
from spotsvm.solvers.search import AskTell, Search, make_search
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.study.optuna.coding import Coding, Floats

#: the states of trials that have ended
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class SpotSampler(BaseSampler):
    """A sampler for Optuna that suggests points with a search of spotsvm.

    The search suggests together the parameters that all completed trials share. Until a trial is completed, these are unknown and
    all parameters are drawn at random; pass `search_space` to name them from the first trial on. Parameters that only some trials
    have are always drawn at random. The search treats pruned and failed trials as failures, and running trials as pending.
    Enqueued trials, and trials older than the sampler, count as starts.

    Parameters
    ----------
    search : str or callable, default="kriging"
        The search, as in `Study`: its name, or a callable that makes it. For several objectives "kriging" means "parego".
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
        If `search_space` has values that are not distributions of Optuna.

    See Also
    --------
    spotsvm.Study : The same search without Optuna, with a record that survives a crash.

    Examples
    --------
    >>> from spotsvm.study.optuna import SpotSampler
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> study = optuna.create_study(sampler=SpotSampler(seed=0))
    >>> study.optimize(
    ...     lambda trial: (trial.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=12
    ... )
    >>> study.best_value < 0.001
    True
    """

    def __init__(
        self,
        search: SearchName | SearchFactory = "kriging",
        seed: int | None = None,
        *,
        noise: Noise = "auto",
        search_space: Mapping[str, BaseDistribution] | None = None,
    ):
        if search_space is not None and not all(isinstance(one, BaseDistribution) for one in search_space.values()):
            raise ArgumentError(f"search_space={shown_value(search_space)} has values that are not distributions of Optuna")
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
            except SearchExhaustedError:  # every configuration of a finite space has been suggested
                return {}

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a random value of a parameter that is not suggested together with others."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def _searching(self, study: optuna.Study, search_space: Mapping[str, BaseDistribution]) -> _Live:
        """Return the search of a study; create another one if the study or its parameters have changed."""
        key = (study.study_name, repr(list(search_space.items())), tuple(study.directions))
        if self._live is None or self._live.key != key:
            signs = np.array([-1.0 if one == optuna.study.StudyDirection.MAXIMIZE else 1.0 for one in study.directions])
            several = len(signs) > 1
            name = "parego" if several and self.search == "kriging" else self.search
            coding = Coding(search_space)
            space = coding.space
            search = make_search(name, space.domain, self.seed, noise=self.noise, n_objectives=len(signs), space=space)
            self._live = _Live(key, search, coding, signs if several else signs[0])
        return self._live


@dataclass
class _Live:
    """A search with its pending points, and the numbers of the trials that it has been told."""

    key: tuple[Any, ...]
    search: AskTell
    coding: Coding
    signs: Any
    running: dict[int, Floats] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)

    def catch_up(self, study: optuna.Study, but: int) -> None:
        """Tell the search the trials that ended since the last call, in order, and those that other workers are evaluating."""
        for t in sorted(study.get_trials(deepcopy=False), key=lambda t: t.number):
            if t.number in self.told or t.number == but or t.state not in (*ENDED, TrialState.RUNNING):
                continue
            if t.number not in self.running and not self._assume(t):
                continue
            if t.state in ENDED:
                given: Any = np.nan if t.state != TrialState.COMPLETE else t.values if np.ndim(self.signs) else t.value
                self.search.tell(self.running.pop(t.number), self.signs * given)
                self.told.add(t.number)

    def _assume(self, trial: FrozenTrial) -> bool:
        """Pass a trial that the search did not suggest to it as a start; return whether the trial is in the space."""
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
