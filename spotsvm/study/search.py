"""The search of a study, restored from the recorded trials, with the starting points that come before its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.text import printable_line
from spotsvm.errors import SolverError, SpotSVMError
from spotsvm.solvers.search import AskTell, Search, Suggestion, capabilities_of, describe_search, make_search
from spotsvm.solvers.search.contract.base import MOST_DRAWS, Noise
from spotsvm.solvers.search.registry import SearchFactory
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.study.resume import Past
from spotsvm.surrogates.domain import Domain
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.sweep import SweptParameter, suggested
from spotsvm.trials.trial import FINISHED, START, Trial, checked_seconds, is_given, one_line


class StudySearch:
    """A search and the starting points that come before its own, kept consistent with a record whose writes may fail.

    A suggestion is confirmed by `keep` once it is recorded, or withdrawn by `forget`. Points are those of the whole space; with a
    `sweep` the search itself sees them, in `domain`, without the swept parameter. Raises SolverError if the search cannot be
    created, or is for another number of objectives.
    """

    def __init__(
        self,
        given: str | SearchFactory | AskTell,
        domain: Domain,
        objectives: Objectives,
        past: Past,
        noise: Noise,
        starts: Sequence[NDArray[np.float64]],
        swept: SweptParameter | None = None,
        allows: Callable[[NDArray[np.float64]], bool] | None = None,
        constraints: Constraints | None = None,
        prior: OptimumPrior | None = None,
    ):
        self._given, self._domain, self._objectives, self._noise = given, domain, objectives, noise
        self._swept, self._allows, self._prior = swept, allows, prior
        self._bounds = constraints if constraints is not None and constraints.bounds else None
        self._seed = int(past.ledger.about["seed"])
        self._starts = list(starts)
        self._state: Mapping[str, Any] = past.search_state
        self._held: Suggestion | None = None
        self._search = self._replayed(past.ledger.trials, past.ledger.events)

    def _replayed(self, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> AskTell:
        """Create the search and replay these trials."""
        n_objectives = len(self._objectives)
        search = make_search(self._given, self._domain, self._seed, noise=self._noise, n_objectives=n_objectives)
        if self._allows is not None and isinstance(search, Search):
            search.allows = self._allows
        if self._prior is not None:
            if not isinstance(search, Search) or not capabilities_of(search).follows_prior:
                raise SolverError(f"search={describe_search(self._given)} uses no prior; use 'kriging', or leave prior out")
            search.take_prior(self._prior)
        told = {t.number: self._response(t, trials, search) for t in suggested(trials) if t.state in FINISHED}
        _replay(
            search,
            self._domain,
            [replace(t, point=tuple(self._seen(t.point))) for t in trials],
            events,
            told,
            self._ask,
            lambda search, trial: self._tell_further(search, _sweep_of(trials, trial)),
        )
        if isinstance(search, Search):
            _restore(search, self._state)
        return search

    def _seen(self, point: ArrayLike) -> NDArray[np.float64]:
        """Return a point as the search sees it."""
        return np.array(point, dtype=float) if self._swept is None else self._swept.searched_point(point)

    def _response(self, trial: Trial, trials: Sequence[Trial], search: AskTell | None = None) -> Any:
        """Return what the search is told of a finished trial."""
        sweep = _sweep_of(trials, trial)
        if self._bounds is not None:
            held = [t for t in sweep if self._bounds.held(t.extra)]
            if not held and not capabilities_of(search or self._search).models_bounds:
                return self._failure
            sweep = held or sweep
        if self._swept is None:
            return self._objectives.response(sweep[0])
        return self._swept.response(sweep, float(self._objectives.signs[0]))

    @property
    def _failure(self) -> Any:
        """What a search is told of a failure."""
        several = len(self._objectives) > 1
        return np.full(len(self._objectives), np.nan) if several else np.nan

    def suggest(self) -> Suggestion:
        """Return the next start, if there is one left, or else the suggestion of the search."""
        if self._held is not None:
            return self._held
        if not self._starts:
            found = self._ask(self._search)
            if self._swept is None:
                return found
            return replace(found, point=self._swept.whole_point(self._domain.snap_one(found.point)))
        if isinstance(self._search, Search):
            self._search.assume(self._seen(self._starts[0]), given=True)
        return Suggestion(self._starts[0], START)

    def _ask(self, search: AskTell) -> Suggestion:
        """Ask a search until it suggests a point that is allowed, and tell it of every other that it failed."""
        for _ in range(MOST_DRAWS):
            found = _as_suggestion(search.ask(), search, self._domain)
            if self._allows is None or self._allows(self._domain.snap_one(found.point)):
                return found
            search.tell(self._domain.snap_one(found.point), self._failure)
        raise SolverError(f"none of {MOST_DRAWS} suggestions of the search satisfies the constraints; widen them")

    def state(self) -> dict[str, Any]:
        """Return the state of the search that trials and events do not determine, as JSON types."""
        return self._search.state() if isinstance(self._search, Search) else {}

    def keep(self, suggestion: Suggestion, state: Mapping[str, Any]) -> None:
        """Confirm that a suggestion, and the state of the search after it, are recorded as a trial."""
        self._held, self._state = None, state
        if self._starts and suggestion.point is self._starts[0]:
            del self._starts[0]

    def forget(self, suggestion: Suggestion | None, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> None:
        """Withdraw a suggestion that became no trial (None if there is none yet): recreate the search, or suggest it again."""
        if self._search is self._given:
            self._held = suggestion
        else:
            self._search = self._replayed(trials, events)

    @contextmanager
    def taken(
        self, point: ArrayLike, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]
    ) -> Iterator[Mapping[str, Any]]:
        """Take a point as given by the user while it is recorded in the context, with the state of the search after it."""
        if isinstance(self._search, Search):
            self._search.assume(self._seen(point), given=True)
        state = self.state()
        try:
            yield state
        except BaseException:
            if isinstance(self._search, Search) and self._search is not self._given:
                self._search = self._replayed(trials, events)
            raise
        self._state = state

    def tell(self, trial: Trial, sweep: Sequence[Trial] = ()) -> None:
        """Tell the search of a finished trial, with the further values in its sweep."""
        self._search.tell(self._seen(trial.point), self._response(trial, [trial, *sweep]))
        self._tell_further(self._search, [trial, *sweep])

    def _tell_further(self, search: Any, sweep: Sequence[Trial]) -> None:
        """Tell a search that models them by how much the outcome told last holds each bound, and how long it took.

        Of a sweep, the margins are those of the value that is nearest to holding them all.
        """
        capabilities = capabilities_of(search)
        if self._bounds is not None and capabilities.models_bounds:
            margins = [self._bounds.margins(t.extra) for t in sweep]
            search.take_margins(max(margins, key=lambda one: min(-np.inf if np.isnan(m) else m for m in one)))
        if capabilities.models_seconds and sweep[0].seconds is not None:
            search.take_seconds(sweep[0].seconds)

    @property
    def name(self) -> str:
        """The description of the search, equal for two studies with the same search."""
        return describe_search(self._given)

    @property
    def n_starts(self) -> int:
        """Number of starts that are still to be suggested."""
        return len(self._starts)

    @property
    def follows_starts(self) -> bool:
        """Whether the first point of the search depends on the values of all starts, as it continues from the best one."""
        return capabilities_of(self._search).follows_given

    def initial_trials(self, n_started: int) -> tuple[int, str]:
        """Return how many trials the search begins with, and what they are; `n_started` starts are trials already."""
        return _initial_trials(self._search, self.n_starts + n_started)

    @property
    def n_foreseen(self) -> int:
        """Number of trials that follow whatever values are told until they are asked for; at least 1."""
        return self.n_starts or max(int(getattr(self._search, "n_foreseen", 1)), 1)


def initial_trials(
    search: str | SearchFactory | AskTell, domain: Domain, n_starts: int = 0, *, noise: Noise = "auto"
) -> tuple[int, str]:
    """Return the number of trials a search of one objective begins with, from `n_starts` on, and their name.

    Examples
    --------
    >>> initial_trials("kriging", Domain.continuous(2)), initial_trials("cmaes", Domain.continuous(2), 3)
    ((6, 'initial design'), (8, 'starts and first generation'))
    """
    return _initial_trials(make_search(search, domain, 0, noise=noise), n_starts)


def _initial_trials(search: AskTell, n_starts: int) -> tuple[int, str]:
    declared = capabilities_of(search)
    further = n_starts - int(min(n_starts, declared.max_given))
    return declared.n_initial + further, f"starts and {declared.initial_name}" if further else declared.initial_name


def _sweep_of(trials: Sequence[Trial], trial: Trial) -> list[Trial]:
    """Return a trial that was told, with the further values in its sweep; the trial first."""
    if trial.sweep is None:
        return [trial]
    return [trial, *(t for t in trials if t.sweep == trial.number and t.number != trial.number)]


def _restore(search: Search, state: Mapping[str, Any]) -> None:
    """Restore the state of a search; raise SolverError if it is not valid."""
    try:
        search.restore(dict(state))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, SpotSVMError):
            raise
        why = f"{type(error).__name__}: {printable_line(str(error), 100)}"
        raise SolverError(f"the search's state cannot be read ({why}); the record is damaged, or of another version") from error


def _as_suggestion(answer: Suggestion | ArrayLike, search: AskTell, domain: Domain) -> Suggestion:
    """Return what a search answers as a suggestion, or raise SolverError if it is no point of the unit cube."""
    if not isinstance(answer, Suggestion):
        answer = Suggestion(np.asarray(answer, dtype=float), type(search).__name__)
    if np.shape(answer.point) != (domain.dimension,) or not np.isfinite(answer.point).all():
        raise SolverError(f"the search suggests {answer.point!r}; use a point of the unit cube of dimension {domain.dimension}")
    # as a record stores them, whatever types a search of the user returns
    return replace(
        answer,
        origin=one_line(str(answer.origin)),
        note=one_line(str(answer.note)),
        fit_seconds=checked_seconds(answer.fit_seconds),
        acquisition_seconds=checked_seconds(answer.acquisition_seconds),
    )


def _replay(
    search: AskTell,
    domain: Domain,
    trials: Sequence[Trial],
    events: Sequence[tuple[int, str, int]],
    responses: Mapping[int, Any],
    ask: Callable[[AskTell], Suggestion],
    told: Callable[[AskTell, Trial], None],
) -> None:
    """Replay the recorded asks and tells, in the same order, on a new search; `responses` are what it was told, by number.

    A search of the library takes the recorded points; any other, and one that may have been told of points that are not
    allowed, is asked again by `ask`, with one warning if it answers differently.
    """
    others: list[int] = []
    for _, what, number in events:
        trial = trials[number]
        point = np.array(trial.point)
        if what == "told":
            search.tell(point, responses[number])
            told(search, trial)
        elif isinstance(search, Search) and (
            is_given(trial) or search.allows is None or search.capabilities.respects_constraints
        ):
            search.assume(point, given=is_given(trial))
        elif not is_given(trial):  # a start was not asked of it
            again = ask(search)
            if not np.array_equal(domain.snap_one(again.point), point):
                others.append(number)
    if others:
        further = f" and of {len(others) - 1} more" if len(others) > 1 else ""
        warnings.warn(
            f"the search no longer suggests the recorded point of trial {others[0]}{further}; the recorded points are used",
            stacklevel=5,
        )
