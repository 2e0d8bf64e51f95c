"""Workers that score the candidates of a search: all waiting ones together in this process, or each whole elsewhere."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from sklearn import config_context, get_config

from spotsvm.common.notices import untold
from spotsvm.cross_validation.compile_first import compile_shared_work
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.search_cv.scoring import CandidateSweeps
from spotsvm.study.workers.protocol import Here, Workers, interrupts_allowed
from spotsvm.trials.outcome import Outcome


class CandidatesHere(Here):
    """Scores all waiting candidates together, so that joblib spreads their folds; `n_together` of them occupy its workers."""

    def __init__(self, scorer: FoldScorer, sweeps: CandidateSweeps, n_together: int = 1):
        super().__init__(lambda params: sweeps.outcomes([params], scorer)[0])
        self.n_together = n_together
        self._scorer, self._sweeps = scorer, sweeps

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Score all waiting candidates."""
        batch = list(self._waiting)
        self._waiting.clear()
        with interrupts_allowed():
            outcomes = self._sweeps.outcomes([params for _, params in batch], self._scorer) if batch else []
        return [(key, outcome) for (key, _), outcome in zip(batch, outcomes, strict=True)]


class CandidateObjective:
    """Scores a whole candidate, fold after fold, in whatever process or thread it is called.

    Each thread keeps its own scorer with the computed kernel matrices, and solutions to start from. With `compiles`, for shared
    work, another process compiles when it loads the objective, so that no candidate's time includes it.
    """

    def __init__(self, make_scorer: Callable[[], FoldScorer], sweeps: CandidateSweeps, compiles: bool = False):
        self._make_scorer, self._sweeps, self._compiles = make_scorer, sweeps, compiles
        self._config, self._filters, self._process = get_config(), list(warnings.filters), os.getpid()
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_own": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import numba  # noqa: F401  # its time must not count for the first candidate, and without memory it fails in its own ways

        self.__dict__.update(state, _own=threading.local())
        if self._compiles:
            compile_shared_work()

    def __call__(self, params: dict[str, Any]) -> Outcome:
        """Return the outcome of a candidate; errors that are not its own failure are raised."""
        with self._as_at_home():
            if not hasattr(self._own, "scorer"):
                self._own.scorer = self._make_scorer()
            return self._sweeps.outcomes([params], self._own.scorer)[0]

    @contextmanager
    def _as_at_home(self) -> Iterator[None]:
        """Set scikit-learn's configuration, and in another process the filters of warnings, to those of the search."""
        with config_context(**self._config), untold():
            if os.getpid() == self._process or threading.current_thread() is not threading.main_thread():
                yield
                return
            with warnings.catch_warnings():
                warnings.filters[:] = self._filters  # type: ignore[index]
                yield


class CandidatesElsewhere(AbstractContextManager["CandidatesElsewhere"]):
    """Workers that evaluate a CandidateObjective and raise its errors, which are not failures of a candidate.

    A lack of memory, for the candidate itself or for shared work, is a failure of the candidate.
    """

    def __init__(self, workers: Workers):
        self._workers = workers
        self._completed: list[tuple[int, Outcome]] = []

    @property
    def n_workers(self) -> int:
        """Number of candidates that can be scored at once now."""
        return self._workers.n_workers

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a candidate."""
        self._workers.submit(key, params)

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait for candidates; raise the error of one whose scoring raised."""
        completed = [(key, _without_memory_error(outcome)) for key, outcome in self._workers.wait(timeout)]
        self._completed = [(key, outcome) for key, outcome in completed if outcome.error is None]
        for _, outcome in completed:
            if outcome.error is not None:
                raise outcome.error
        self._completed = []
        return completed

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return the scored candidates, and kill or cancel the others."""
        completed = ((key, _without_memory_error(outcome)) for key, outcome in self._workers.abandon())
        return [*self._completed, *((key, outcome) for key, outcome in completed if outcome.error is None)]

    def __enter__(self) -> CandidatesElsewhere:
        self._workers.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._workers.__exit__(*details)


def _without_memory_error(outcome: Outcome) -> Outcome:
    return replace(outcome, error=None) if isinstance(outcome.error, MemoryError) else outcome
