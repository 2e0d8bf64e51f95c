"""The search of a study: made, brought to where its trials leave it, and asked once the starts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError
from solvers.search import AskTell, Search, Suggestion, describe_search, make_search
from solvers.search.base import Noise
from solvers.search.registry import SearchFactory
from spotsvm.objectives import Objectives
from spotsvm.printable import printable_line
from spotsvm.resume import Past, as_suggestion, replay
from spotsvm.start import START
from spotsvm.trial import Trial
from surrogates.domain import Domain
from surrogates.errors import SpotSVMError

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
        replay(search, self._domain, trials, events, self._objectives)
        if isinstance(search, Search):
            _restore(search, self._state)
        return search

    def suggest(self) -> Suggestion:
        """Give what to ask for next: a start, as long as there is one, else what the search suggests."""
        if self._held is not None:
            return self._held
        if not self._starts:
            return as_suggestion(self._search.ask(), self._search, self._domain)
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

    @property
    def n_initial(self) -> int:
        """Trials of the search's initial design, or of its first generation."""
        return int(getattr(self._search, "n_initial", 1))

    @property
    def most_starts(self) -> float:
        """How many starts may be among those trials."""
        return float(getattr(self._search, "most_given", np.inf))

    @property
    def initial_name(self) -> str:
        """What the first `n_initial` trials are."""
        return str(getattr(self._search, "initial_name", "initial design"))

    @property
    def n_ready(self) -> int:
        """How many trials can be asked for now without any of them depending on a value that is not told yet; at least 1."""
        return self.n_starts or max(int(getattr(self._search, "n_ready", 1)), 1)


def _restore(search: Search, state: Mapping[str, Any]) -> None:
    """Let a search take back what it remembered, or raise SolverError if that is none of its own."""
    try:
        search.restore(dict(state))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, SpotSVMError):
            raise
        why = f"{type(error).__name__}: {printable_line(str(error), 100)}"
        raise SolverError(f"the search's state cannot be read ({why}); the record is damaged, or of another version") from error
