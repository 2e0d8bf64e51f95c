"""The initial state of a study: its description, the content of its record, checked, and its search restored from both."""

from __future__ import annotations

import logging
import math
import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.fingerprint import versions
from spotsvm.common.text import printable_line, shown_value
from spotsvm.errors import ArgumentError, SolverError, SpotSVMError, StudyMismatchError
from spotsvm.solvers.search import AskTell, Search, Suggestion, capabilities_of, describe_search, make_search
from spotsvm.solvers.search.contract.base import MOST_DRAWS, Noise
from spotsvm.solvers.search.registry import SearchFactory
from spotsvm.space.description import parameter_code, same_parameter
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.parameter import MOST_DIGITS, is_number
from spotsvm.space.space import Space
from spotsvm.study.record.record import LedgerInRecord, Record
from spotsvm.study.record.rows import brief_repr, plain_json
from spotsvm.study.record.salvage import damaged
from spotsvm.study.record.widening import is_wider, moved_outcome, moved_trial
from spotsvm.surrogates.domain import Domain
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.ledger import Ledger
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
        """Return the response of a finished trial, as the search is told it."""
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
        """The response that a search is told for a failure."""
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
        """Ask a search until it suggests an allowed point, and tell it that each forbidden point failed."""
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
        """Pass the search a point of the user, which is recorded in this context; yield the state of the search after it."""
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
        """Tell a search that models them the margins of the last told outcome to each bound, and its time.

        For a sweep, the margins are those of the value that is nearest to satisfying all bounds.
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
        """Number of upcoming trials that do not depend on any value still to be told; at least 1."""
        return self.n_starts or max(int(getattr(self._search, "n_foreseen", 1)), 1)


def initial_trials(
    search: str | SearchFactory | AskTell, domain: Domain, n_starts: int = 0, *, noise: Noise = "auto"
) -> tuple[int, str]:
    """Return the number of trials a search of one objective begins with, from `n_starts` on, and their name.

    Examples
    --------
    >>> (
    ...     initial_trials("kriging", Domain.continuous(2)),
    ...     initial_trials("cmaes", Domain.continuous(2), 3),
    ... )
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
    """Return the answer of a search as a suggestion; raise SolverError if it is not a point of the unit cube."""
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
    """Replay the recorded asks and tells, in the same order, on a new search; `responses` are those told, by trial number.

    A search of the library takes the recorded points. Any other search, or a search that may have been told of forbidden points,
    is asked again by `ask`, with one warning if it answers differently.
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
            stacklevel=6,  # the arguments of Study are checked by a wrapper
        )


_LOG = logging.getLogger(__name__)


_WORDS = {key: key for key in ("space", "direction", "search", "seed", "sweep", "constraints")} | {
    "noise": "setting of noise",
    "prior": "prior of the optimum",
}
#: entries that a message does not show: fingerprints of data, and tables of densities
_UNSHOWN = ("data", "prior of the optimum")
_CONTEXT = "context: "


def is_seed(seed: Any) -> bool:
    """Return whether a value is a seed: a whole number of at least 0 that a record can hold."""
    return isinstance(seed, int | np.integer) and not isinstance(seed, bool) and 0 <= int(seed) < 10**MOST_DIGITS


def check_same_study(path: Path, recorded: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise StudyMismatchError, which names the difference, if a record belongs to another study than the one given."""
    words = _WORDS | {key: key.removeprefix(_CONTEXT) for key in [*given, *recorded] if key.startswith(_CONTEXT)}
    for key, word in words.items():
        before, now = recorded.get(key), given.get(key)
        # compared as text, which distinguishes True from 1, and the order of the parameters
        if not same_parameter(before, now):
            before, now = _difference(before, now)
            further = "; a wider space, which contains the recorded one, works as well" if key == "space" else ""
            if word in _UNSHOWN:
                other = "other data" if word == "data" else f"a study with another {word}"
                error = StudyMismatchError(f"{path} belongs to {other}; use the same {word}, or another file")
            else:
                error = StudyMismatchError(
                    f"{path} holds a study with another {word}: it has {before}, this one {now}. "
                    f"Use the same {word}, or another file{further}"
                )
            error.differs = word
            raise error


def describe_study(
    space: Space,
    objectives: Objectives,
    search: Any,
    seed: int | None,
    noise: str | bool,
    context: Mapping[str, str],
    sweep: str | None = None,
    constraints: Sequence[str] = (),
    prior: OptimumPrior | None = None,
) -> dict[str, Any]:
    """Return the entries that identify a study, as in its record; raise ArgumentError for an invalid seed or context."""
    if seed is not None and not is_seed(seed):
        raise ArgumentError(f"seed={shown_value(seed)} is not a seed; use an integer of at least 0, or None")
    return {
        "space": space.describe(),
        "direction": objectives.describe(),
        "search": describe_search(search),
        "seed": None if seed is None else int(seed),
        "noise": noise,
        **({} if sweep is None else {"sweep": sweep}),
        **({"constraints": list(constraints)} if constraints else {}),
        **({} if prior is None else {"prior": prior.describe()}),
        # these two may differ when a record is resumed
        "versions": versions(),
        "code": [{name: parameter_code(parameter) for name, parameter in branch.items()} for branch in space.branches],
        **{f"{_CONTEXT}{key}": value for key, value in plain_json(context, "context").items()},
    }


@dataclass(frozen=True)
class Past:
    """The initial state of a study: its ledger, with a seed in its description, and values needed only at its start.

    `search_state` is the part of the search's state that trials and events do not determine. `is_new` is whether a record, if
    there is one, does not describe the study yet; `is_widened` whether it has a narrower space, and its trials other points.
    """

    ledger: Ledger
    search_state: Mapping[str, Any]
    is_new: bool = True
    is_widened: bool = False


def take_up(
    record: Record | None, given: Mapping[str, Any], space: Space, n_objectives: int, swept: SweptParameter | None = None
) -> Past:
    """Return the initial state of a study: the content of its record, or nothing.

    Without a seed in `given`, the recorded seed or a new one is used. Raises StudyMismatchError if the record belongs to another
    study, and StorageError if it is damaged.
    """
    recorded = {} if record is None else record.about()
    about = dict(given)
    if about["seed"] is None:
        about["seed"] = recorded.get("seed", int(np.random.default_rng().integers(2**32)))
    if record is None:
        return Past(Ledger(about), {})
    if "space" not in recorded:
        return Past(LedgerInRecord(record, about), {})
    if not is_seed(about["seed"]):
        raise damaged(record.path, f"its seed is {brief_repr(about['seed'])}")
    widened = is_wider(recorded["space"], about["space"])
    check_same_study(record.path, recorded | {"space": about["space"]} if widened else recorded, about)
    trials, events, outcomes = record.trials(), record.events(), record.outcomes()
    if widened:
        narrow = Space.described(recorded["space"])
        for t in trials:
            if problem := trial_problem(t, narrow, n_objectives):
                raise damaged(record.path, problem)
        trials = [moved_trial(t, narrow, space) for t in trials]
        if swept is not None:
            outcomes = {number: moved_outcome(one, swept.name, narrow, space) for number, one in outcomes.items()}
        recorded = recorded | {"search_state": {}}  # it refers to points of the narrower space
        _LOG.info("%s goes on in a wider space", record.path)
    trials = _checked_trials(record.path, trials, space, n_objectives, swept)
    if problem := events_problem(trials, events):
        raise damaged(record.path, problem)
    state = recorded.get("search_state", {})
    if not isinstance(state, dict):
        raise damaged(record.path, f"its search_state is {brief_repr(state)}")
    kept = {key: recorded[key] for key in ("versions", "budget", "batch_size") if key in recorded}
    about = {key: value for key, value in about.items() if key != "versions"} | kept
    own = suggested(trials)
    left = sum(t.state == "running" for t in own)
    _LOG.info("%s goes on after %d trials, %d of them unfinished", record.path, len(own), left)
    ledger = LedgerInRecord(record, about, trials, events, record.findings(), outcomes)
    return Past(ledger, state, is_new=False, is_widened=widened)


def _checked_trials(
    path: Path, trials: Sequence[Trial], space: Space, n_objectives: int, swept: SweptParameter | None
) -> list[Trial]:
    for t in trials:
        if problem := trial_problem(t, space, n_objectives):
            raise damaged(path, problem)
    if problem := size_problem(trials):
        raise damaged(path, problem)
    # finished trials keep the parameters that were evaluated, and starts those given; of others they follow from the point
    decoded = [space.decode(t.point, t.params if t.state != "running" or t.origin == START else {}) for t in trials]
    if swept is not None:
        decoded = [swept.known_params(params, t.params) for params, t in zip(decoded, trials, strict=True)]
    return [replace(t, params=params) for t, params in zip(trials, decoded, strict=True)]


def _difference(recorded: Any, given: Any) -> tuple[str, str]:
    """Return texts of two entries that differ; for two spaces, of the first parameter that differs."""
    if isinstance(recorded, list) and isinstance(given, list) and all(isinstance(one, Mapping) for one in (*recorded, *given)):
        for before, now in zip(recorded, given, strict=False):
            for name in dict.fromkeys([*before, *now]):
                if not same_parameter(before.get(name), now.get(name)):
                    one, other = f"{name}={_parameter_text(before.get(name))}", f"{name}={_parameter_text(now.get(name))}"
                    return one, other if other != one else "values with the same texts and other contents"
            if list(before) != list(now):
                return f"the order {', '.join(before)}", f"the order {', '.join(now)}"
        return f"{len(recorded)} sets of parameters", f"{len(given)}"
    return printable_line(repr(recorded), 400), printable_line(repr(given), 400)


def _parameter_text(parameter: Any) -> str:
    """Return the text of a described parameter."""
    if parameter is None:
        return "(absent)"
    match parameter:
        case {"kind": "continuous", "quantiles": [_, *_] as quantiles} if all(isinstance(q, float) for q in quantiles):
            return f"a distribution on [{quantiles[0]:g}, {quantiles[-1]:g}] with median {quantiles[len(quantiles) // 2]:g}"
        case {"kind": "integer", "low": int(low), "high": int(high)}:
            return f"the integers {low} to {high}"
        case {"kind": "choice", "values": values}:
            return printable_line(repr(values), 400)
    return printable_line(repr(parameter), 400)


#: maximum cells of the table of all trials; a record with more, most of them empty, was made to exhaust the memory
MOST_CELLS = 5_000_000


def trial_problem(trial: Trial, space: Space, n_objectives: int) -> str:
    """Return what is inconsistent in a trial read from a record; empty if nothing is."""
    who = f"trial {trial.number}"
    if len(trial.point) != space.domain.dimension or not all(0 <= u <= 1 for u in trial.point):
        return f"{who} has no point of the unit cube"
    count = 0 if trial.values is None else len(trial.values)
    if count != (n_objectives if trial.state == "ok" else 0):
        return f"{who} is {trial.state!r}, and has {count} values"
    if trial.state == "stopped" and not trial.steps:
        return f"{who} is 'stopped', and has no step"
    if not all(map(math.isfinite, trial.values or ())):
        return f"{who} is {trial.state!r}, and has a value that is not finite"
    return ""


def params_problem(trial: Trial, decoded: Mapping[str, Any]) -> str:
    """Return how a trial's parameters contradict those decoded from its point; empty if they do not."""
    if set(trial.params) != set(decoded):
        return f"trial {trial.number} has other parameters than the space"
    for name, value in trial.params.items():
        known = decoded[name]
        if isinstance(known, float) and not (is_number(value) and (math.isfinite(value) or value == known)):
            return f"trial {trial.number} has a parameter that is not a finite number"
        if isinstance(known, int) and not isinstance(known, bool) and not isinstance(value, numbers.Integral):
            return f"trial {trial.number} has a parameter that is not an integer"
    return ""


def events_problem(trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> str:
    """Return what is inconsistent in the order of events, as `Past` has them, or in sweeps; empty if nothing is."""
    asked: set[int] = set()
    told: set[int] = set()
    before = -1
    for sequence, what, number in events:
        if sequence <= before or not 0 <= number < len(trials):
            return "the order of its trials is lost"
        before = sequence
        if what == "told" and number not in asked:
            return f"trial {number} was told before it was asked for"
        (asked if what == "asked" else told).add(number)
    further = {t.number for t in trials} - {t.number for t in suggested(trials)}
    for trial in trials:
        if trial.number in further:
            if trial.state not in FINISHED or trial.sweep not in told:
                return f"trial {trial.number} is in the sweep of trial {trial.sweep}, which was not told"
        elif (trial.state in FINISHED) != (trial.number in told):
            return f"trial {trial.number} is {trial.state!r}, which contradicts its recorded events"
    return "" if len(asked) == len(trials) - len(further) else "the order of its trials is lost"


def size_problem(trials: Sequence[Trial]) -> str:
    """Return why the table of all trials would exhaust the memory (each may have extra numbers of other names); empty if not."""
    names = len({name for trial in trials for name in (*trial.params, *trial.extra, *trial.attributes)})
    cells, filled = names * len(trials), sum(len(t.params) + len(t.extra) + len(t.attributes) for t in trials)
    return f"its {len(trials)} trials have {names} different names" if cells > max(MOST_CELLS, 10 * filled) else ""
