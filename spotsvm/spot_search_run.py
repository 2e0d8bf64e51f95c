"""The run of a cross-validated search: its study, and what scores its candidates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from spotsvm.callbacks import Followers
from spotsvm.candidate_scoring import CandidateScoring
from spotsvm.candidate_workers import CandidateObjective, CandidatesElsewhere, CandidatesHere
from spotsvm.fit_warnings import warn_of_failure
from spotsvm.fold_scores import FoldScorer
from spotsvm.run_settings import RunSettings, check_budget
from spotsvm.stop_rule import with_test_share
from spotsvm.stopper import Stopper
from spotsvm.study import Study
from spotsvm.trial import Trial
from spotsvm.trial_loop import run_trials
from spotsvm.workers.open_workers import open_workers
from spotsvm.workers.protocol import Workers

if TYPE_CHECKING:
    from spotsvm.fold_views import Split
    from spotsvm.spot_search_cv import SpotSearchCV


class SpotSearchRun:
    """One fit of a SpotSearchCV, up to the end of its study.

    Parameters
    ----------
    search : SpotSearchCV
        What is fitted.
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

    def __init__(self, search: SpotSearchCV, X: Any, y: Any, splits: Sequence[Split], fit_params: Mapping[str, Any]):
        self._search = search
        self.scoring = CandidateScoring(search.search, search.scoring, search.refit)
        self._make_scorer = partial(
            FoldScorer, search.estimator, X, y, splits, fit_params,
            scoring=search.scoring, error_score=search.error_score, return_train_score=search.return_train_score,
            engine=search.engine, race_for=self.scoring.race_for if search.racing else None,
        )  # fmt: skip
        self.scorer = self._make_scorer(n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch)

    def run(self) -> Study:
        """Evaluate until the study has `n_iter` finished trials; give the study, with its record closed."""
        search = self._search
        with self._new_study() as study:
            self.scorer.best_mean = max((t.value for t in study.trials if t.state == "ok" and t.value is not None), default=None)
            check_budget(study, search.n_iter, "n_iter")
            settings = RunSettings(search.n_iter, search.batch_size, search.retries)
            stopper = Stopper(study, with_test_share(search.stop, self.scorer.test_share))
            with study.guard.running():
                try:
                    exhausted = run_trials(study, self._open_workers(), settings, self._followers(), stopper)
                except KeyboardInterrupt as interrupt:
                    interrupt.add_note(self._how_to_resume(study))
                    raise
        if exhausted:
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
        workers = open_workers(
            objective,
            search.executor,
            n_jobs=search.n_jobs,
            trial_timeout=search.trial_timeout,
            memory_limit=search.memory_limit,
        )
        return CandidatesElsewhere(workers)

    def _followers(self) -> Followers:
        given = self._search.callback
        several = [] if given is None else list(given) if isinstance(given, Sequence) else [given]
        own = [(self._search.verbose > 0, self._print), (self._search.uses_workers, _warn_if_failed)]
        return Followers([*(follower for wanted, follower in own if wanted), *several])

    def _print(self, study: Study, trial: Trial) -> None:
        score = trial.values if trial.value is None else trial.value
        print(f"[{study.n_finished}/{self._search.n_iter}] {trial.state} score={score} {dict(trial.params)}")

    def _how_to_resume(self, study: Study) -> str:
        done = f"{study.n_finished} of {self._search.n_iter} candidates are scored"
        if study.path is None:
            return f"{done}, and lost: give SpotSearchCV a path, and fit goes on where it stopped"
        return f"{done} and recorded in {study.path}; the same fit goes on from there"

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
        """Say what a record of the scores depends on; without a record only a report shows it, and it may be unknown."""
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
