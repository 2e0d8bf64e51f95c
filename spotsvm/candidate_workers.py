"""Workers of a cross-validated search: this process, which scores folds at once, or others, each of which scores a candidate."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from sklearn import config_context, get_config

from spotsvm.candidate_scoring import CandidateScoring
from spotsvm.evaluation import Outcome
from spotsvm.fold_scores import FoldScorer
from spotsvm.interrupts import interrupts_allowed
from spotsvm.workers.here import Here
from spotsvm.workers.protocol import Workers


class CandidatesHere(Here):
    """Scores all candidates that wait together, so that joblib spreads their folds.

    Parameters
    ----------
    scorer : FoldScorer
        What scores them.
    scoring : CandidateScoring
        What their scores are worth.
    """

    def __init__(self, scorer: FoldScorer, scoring: CandidateScoring):
        super().__init__(lambda params: scoring.outcome(scorer.score([params])[0], scorer))
        self._scorer, self._scoring = scorer, scoring

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Score all that wait."""
        batch = list(self._waiting)
        self._waiting.clear()
        with interrupts_allowed():
            scores = self._scorer.score([params for _, params in batch]) if batch else []
        return [(key, self._scoring.outcome(of_one, self._scorer)) for (key, _), of_one in zip(batch, scores, strict=True)]


class CandidateObjective:
    """Scores a whole candidate, fold after fold, in whatever process or thread it is called.

    Each thread has a scorer of its own, and keeps it with what it has computed: kernel matrices, and solutions to start from.

    Parameters
    ----------
    make_scorer : callable
        Makes the FoldScorer; what is sent to a worker.
    scoring : CandidateScoring
        What scores are worth.
    """

    def __init__(self, make_scorer: Callable[[], FoldScorer], scoring: CandidateScoring):
        self._make_scorer, self._scoring = make_scorer, scoring
        self._config, self._filters, self._process = get_config(), list(warnings.filters), os.getpid()
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_own": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import numba  # noqa: F401  # what it takes is not the first candidate's, and without memory it fails in its own ways

        self.__dict__.update(state, _own=threading.local())

    def __call__(self, params: dict[str, Any]) -> Outcome:
        """Return what is told of a candidate; what is not its own failure is raised."""
        with self._as_at_home():
            if not hasattr(self._own, "scorer"):
                self._own.scorer = self._make_scorer()
            return self._scoring.outcome(self._own.scorer.score([params])[0], self._own.scorer)

    @contextmanager
    def _as_at_home(self) -> Iterator[None]:
        """Set scikit-learn's configuration, and in another process the filters of warnings, as they are where the search runs."""
        with config_context(**self._config):
            if os.getpid() == self._process or threading.current_thread() is not threading.main_thread():
                yield
                return
            with warnings.catch_warnings():
                warnings.filters[:] = self._filters  # type: ignore[index]
                yield


class CandidatesElsewhere(AbstractContextManager["CandidatesElsewhere"]):
    """Workers that evaluate a CandidateObjective: what it raises, which is no candidate's own failure, is raised.

    But for too little memory, be it for the candidate itself or for what it shares with others: then it has failed.

    Parameters
    ----------
    workers : Workers
        What evaluates.
    """

    def __init__(self, workers: Workers):
        self._workers = workers
        self._completed: list[tuple[int, Outcome]] = []

    @property
    def n_workers(self) -> int:
        """How many candidates it can score at once, now."""
        return self._workers.n_workers

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a candidate."""
        self._workers.submit(key, params)

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait for candidates; of one whose scoring raised, nothing is told."""
        completed = [(key, _without_memory_error(outcome)) for key, outcome in self._workers.wait(timeout)]
        self._completed = [(key, outcome) for key, outcome in completed if outcome.error is None]
        for _, outcome in completed:
            if outcome.error is not None:
                raise outcome.error
        self._completed = []
        return completed

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return what has been scored, and kill or cancel the rest."""
        completed = ((key, _without_memory_error(outcome)) for key, outcome in self._workers.abandon())
        return [*self._completed, *((key, outcome) for key, outcome in completed if outcome.error is None)]

    def __enter__(self) -> CandidatesElsewhere:
        self._workers.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._workers.__exit__(*details)


def _without_memory_error(outcome: Outcome) -> Outcome:
    return replace(outcome, error=None) if isinstance(outcome.error, MemoryError) else outcome
