"""The run of a cross-validated search: its study, and what scores its candidates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from sklearn.utils import check_random_state

from spotsvm.candidate_scoring import CandidateScoring
from spotsvm.candidate_workers import CandidateObjective, CandidatesElsewhere, CandidatesHere
from spotsvm.fit_warnings import warn_of_failure
from spotsvm.fold_scores import FoldScorer
from spotsvm.fold_views import Split
from spotsvm.run_settings import check_budget
from spotsvm.search_arguments import SearchArguments
from spotsvm.stop_rule import with_test_share
from spotsvm.study import Study
from spotsvm.trial import Trial
from spotsvm.workers.open_workers import open_workers
from spotsvm.workers.protocol import Workers


class SpotSearchRun:
    """One fit of a SpotSearchCV, up to the end of its study.

    Parameters
    ----------
    search : SearchArguments
        The search that is fitted.
    X, y : array-like
        The data.
    splits : list of (train, test)
        The folds.
    fit_params : mapping
        Further arguments of `fit` for the estimator and the scorers.

    Attributes
    ----------
    scorer : FoldScorer
        What scores candidates in this process, and says what a record of them depends on.
    scoring : CandidateScoring
        What their scores are worth.
    """

    def __init__(self, search: SearchArguments, X: Any, y: Any, splits: Sequence[Split], fit_params: Mapping[str, Any]):
        self._search = search
        self.scoring = CandidateScoring(search.search, search.scoring, search.refit)
        self._make_scorer = partial(
            FoldScorer, search.estimator, X, y, splits, fit_params,
            scoring=search.scoring, error_score=search.error_score, return_train_score=search.return_train_score,
            engine=search.engine, race_for=self.scoring.race_for if search.racing else None,
        )  # fmt: skip
        self.scorer = self._make_scorer(n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch)

    def run(self) -> Study:
        """Evaluate until the study has `n_iter` finished trials; return the study, with its record closed."""
        search = self._search
        with self._new_study() as study:
            self.scorer.best_mean = max((t.value for t in study.trials if t.state == "ok" and t.value is not None), default=None)
            check_budget(search.n_iter, "n_iter", (study.n_initial, study.initial_name), study.space.domain)
            stop = None if search.stop is None else with_test_share(search.stop, self.scorer.test_share)
            try:
                study.run(
                    self._open_workers(),
                    search.n_iter,
                    batch_size=search.batch_size,
                    retries=search.retries,
                    callback=self._callbacks(),
                    stop=stop,
                )
            except KeyboardInterrupt as interrupt:
                if search.path is None:
                    interrupt.add_note("fit begins anew: give SpotSearchCV a path, and it goes on where it stopped")
                raise
        if study.is_exhausted:
            warnings.warn(
                f"The total space of parameters {study.n_finished} is smaller than n_iter={search.n_iter}. "
                f"Running {study.n_finished} iterations. For exhaustive searches, use GridSearchCV.",
                UserWarning,
                stacklevel=3,
            )
        return study

    def _open_workers(self) -> Workers:
        search = self._search
        if not search.uses_workers:
            return CandidatesHere(self.scorer, self.scoring)
        objective = CandidateObjective(partial(self._make_scorer, warn=False), self.scoring)
        limits: dict[str, Any] = {"trial_timeout": search.trial_timeout, "memory_limit": search.memory_limit}
        return CandidatesElsewhere(open_workers(objective, search.executor, n_jobs=search.n_jobs, **limits))

    def _callbacks(self) -> list[Any]:
        given = self._search.callback
        several = [] if given is None else list(given) if isinstance(given, Sequence) else [given]
        own = [(self._search.verbose > 0, self._print), (self._search.uses_workers, _warn_if_failed)]
        return [*(callback for wanted, callback in own if wanted), *several]

    def _print(self, study: Study, trial: Trial) -> None:
        score = trial.values if trial.value is None else trial.value
        print(f"[{study.n_finished}/{self._search.n_iter}] {trial.state} score={score} {dict(trial.params)}")

    def _new_study(self) -> Study:
        search = self._search
        seed = None if search.random_state is None else int(check_random_state(search.random_state).randint(2**31 - 1))
        objectives = self.scoring.objectives
        direction: Any = dict.fromkeys(objectives, "maximize") or "maximize"
        return Study(
            search.space,
            deepcopy(search.search),  # an object with ask and tell remembers, and the next fit must not
            seed,
            direction=direction,
            path=search.path,
            noise=search.noise,
            start=search.start,
            context=self._context(objectives),
        )

    def _context(self, objectives: Sequence[str]) -> dict[str, str] | None:
        """Return what a record of the scores depends on; without a record only a report shows it, and it may be unknown."""
        metric = self._search.refit if isinstance(self._search.refit, str) else "the first"
        try:
            return {**self.scorer.context(), "metric to optimise": ", ".join(objectives) or metric}
        except Exception:  # data of the user's own kind may fail to pickle in any way
            if self._search.path is not None:
                raise
            return None


def _warn_if_failed(study: Study, trial: Trial) -> None:
    """Warn of a candidate that failed in a worker; one that fails here is warned of where it is scored."""
    if trial.state != "ok":
        warn_of_failure(trial.params, trial.extra, trial.reason)
