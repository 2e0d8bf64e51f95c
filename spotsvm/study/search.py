"""The search of a study: made, brought to where its trials leave it, and asked once the starts are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.text import printable_line
from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.search import AskTell, Search, Suggestion, describe_search, make_search
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.registry import SearchFactory
from spotsvm.study.resume import Past
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.errors import SpotSVMError
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.outcome import checked_seconds, one_line
from spotsvm.trials.start import START
from spotsvm.trials.trial import Trial

Floats = NDArray[np.float64]


class StudySearch:
    """A search, and the starts that come before what it suggests; in step with a record, of which some writes may fail.

    What `suggest` gives is settled by `keep`, once the record has it, or taken back by `forget`.

    Parameters
    ----------
    given : str, callable or object
        The search, as `Study` takes it.
    domain : Domain
        The cube of its points.
    objectives : Objectives
        What it is told of.
    past : Past
        The study's beginning, through which the search is to live, and its seed.
    noise : "auto" or bool
        What is known of the objective's noise.
    starts : sequence of ndarray of shape (d,)
        Points to suggest first.

    Raises
    ------
    SolverError
        If the search cannot be made, or is one of another number of objectives.

    Examples
    --------
    >>> past = Past({"seed": 0}, True, [], [], {})
    >>> search = StudySearch("random", Domain.continuous(1), Objectives.of("minimize"), past, "auto", [np.array([0.5])])
    >>> search.suggest()
    Suggestion(point=array([0.5]), origin='start', note='')
    """

    def __init__(
        self,
        given: str | SearchFactory | AskTell,
        domain: Domain,
        objectives: Objectives,
        past: Past,
        noise: Noise,
        starts: Sequence[Floats],
    ):
        self._given, self._domain, self._objectives, self._noise = given, domain, objectives, noise
        self._seed = int(past.about["seed"])
        self._starts = list(starts)
        self._state: Mapping[str, Any] = past.search_state
        self._held: Suggestion | None = None
        self._search = self._living(past.trials, past.events)

    def _living(self, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> AskTell:
        """Make the search and let it live through these trials."""
        n_objectives = len(self._objectives)
        search = make_search(self._given, self._domain, self._seed, noise=self._noise, n_objectives=n_objectives)
        _replay(search, self._domain, trials, events, self._objectives)
        if isinstance(search, Search):
            _restore(search, self._state)
        return search

    def suggest(self) -> Suggestion:
        """Give what to ask for next: a start, as long as there is one, else what the search suggests."""
        if self._held is not None:
            return self._held
        if not self._starts:
            return _as_suggestion(self._search.ask(), self._search, self._domain)
        if isinstance(self._search, Search):
            self._search.assume(self._starts[0], given=True)
        return Suggestion(self._starts[0], START)

    def state(self) -> dict[str, Any]:
        """Give what the search now remembers beyond trials and events, in JSON's types."""
        return self._search.state() if isinstance(self._search, Search) else {}

    def keep(self, suggestion: Suggestion, state: Mapping[str, Any]) -> None:
        """Take it that a suggestion is a trial, and that the record has it, with the state that came after it."""
        self._held, self._state = None, state
        if self._starts and suggestion.point is self._starts[0]:
            del self._starts[0]

    def forget(self, suggestion: Suggestion | None, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> None:
        """Let the search not remember a suggestion that became no trial; one that cannot be made anew gives it next time.

        None where it was interrupted before it had one.
        """
        if self._search is self._given:
            self._held = suggestion
        else:
            self._search = self._living(trials, events)

    def tell(self, trial: Trial) -> None:
        """Tell the search of a finished trial."""
        self._search.tell(np.array(trial.point), self._objectives.response(trial))

    @property
    def name(self) -> str:
        """The text by which two studies can be told to use the same search."""
        return describe_search(self._given)

    @property
    def n_starts(self) -> int:
        """How many starts are still to be suggested."""
        return len(self._starts)

    @property
    def follows_starts(self) -> bool:
        """Whether it goes on from the best start, so that its first own point depends on all of their values."""
        return bool(getattr(self._search, "follows_given", False))

    def initial_trials(self, n_started: int) -> tuple[int, str]:
        """Return how many trials the search begins with, and what they are; `n_started` starts are trials already."""
        return _initial_trials(self._search, self.n_starts + n_started)

    @property
    def n_ready(self) -> int:
        """How many trials can be asked for now without any of them depending on a value that is not told yet; at least 1."""
        return self.n_starts or max(int(getattr(self._search, "n_ready", 1)), 1)


def initial_trials(
    search: str | SearchFactory | AskTell, domain: Domain, n_starts: int = 0, *, noise: Noise = "auto"
) -> tuple[int, str]:
    """Return how many trials a search of one objective begins with, and what they are.

    Parameters
    ----------
    search : str, callable or object
        The search, as `Study` takes it.
    domain : Domain
        The cube of its points.
    n_starts : int, default=0
        Configurations to start at.
    noise : "auto" or bool, default="auto"
        What is known of the objective's noise.

    Returns
    -------
    tuple of (int, str)
        The number, and its name: initial design, or first generation and the starts before it.

    Raises
    ------
    SolverError
        If the search cannot be made.

    Examples
    --------
    >>> initial_trials("kriging", Domain.continuous(2)), initial_trials("cmaes", Domain.continuous(2), 3)
    ((6, 'initial design'), (8, 'starts and first generation'))
    """
    return _initial_trials(make_search(search, domain, 0, noise=noise), n_starts)


def _initial_trials(search: AskTell, n_starts: int) -> tuple[int, str]:
    n_initial, name = int(getattr(search, "n_initial", 1)), str(getattr(search, "initial_name", "initial design"))
    further = n_starts - int(min(n_starts, getattr(search, "most_given", np.inf)))
    return n_initial + further, f"starts and {name}" if further else name


def _restore(search: Search, state: Mapping[str, Any]) -> None:
    """Let a search take back what it remembered, or raise SolverError if that is none of its own."""
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
    # as a record has them, whatever a search of one's own gives
    return replace(
        answer,
        origin=one_line(str(answer.origin)),
        note=one_line(str(answer.note)),
        fit_seconds=checked_seconds(answer.fit_seconds),
        acquisition_seconds=checked_seconds(answer.acquisition_seconds),
    )


def _replay(
    search: AskTell, domain: Domain, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]], objectives: Objectives
) -> None:
    """Replay the recorded asks and tells, in the same order, on a fresh search.

    Parameters
    ----------
    search : AskTell
        A search that has been neither asked nor told. The library's own take the recorded points as they are; another
        one is asked again, with one warning if it answers differently.
    domain : Domain
        The cube of its points.
    trials : sequence of Trial
        The record's trials, by number.
    events : sequence of (int, str, int)
        (sequence, "asked" or "told", number of the trial), in order.
    objectives : Objectives
        What the trials were told of.
    """
    others: list[int] = []
    for _, what, number in events:
        trial = trials[number]
        point = np.array(trial.point)
        if what == "told":
            search.tell(point, objectives.response(trial))
        elif isinstance(search, Search):
            search.assume(point, given=trial.origin == START)
        elif trial.origin != START:  # a start was not asked of it
            again = _as_suggestion(search.ask(), search, domain)
            if not np.array_equal(domain.snap_one(again.point), point):
                others.append(number)
    if others:
        further = f" and {len(others) - 1} further ones" if len(others) > 1 else ""
        warnings.warn(
            f"the search suggests another point for trial {others[0]}{further} than it did before; the record's is kept",
            stacklevel=5,
        )
