"""The run of a cross-validated search, up to the end of its study."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from spotsvm.common.interruption import says_when_interrupted
from spotsvm.common.text import checked_path
from spotsvm.cross_validation.fold_answers import responses_of
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.fold_scores import FoldScores
from spotsvm.cross_validation.row_sample import SEARCH_SHARE
from spotsvm.errors import ArgumentError, FirstTrialsFailedError, SpaceError
from spotsvm.out_of_fold.table import MOST_BYTES
from spotsvm.search_cv.arguments import AVERAGE, SearchArguments, choosing_scorer
from spotsvm.search_cv.candidate_workers import CandidateObjective, CandidatesElsewhere, CandidatesHere
from spotsvm.search_cv.estimator_space import grid, own_start
from spotsvm.search_cv.scoring import AUTO, CandidateScoring, CandidateSweeps, grid_size, swept_parameter
from spotsvm.search_cv.search_data import SearchData
from spotsvm.search_cv.simplest import ONE_SE
from spotsvm.solvers.search import needs_space
from spotsvm.space.space import Space
from spotsvm.study.callbacks import Callback
from spotsvm.study.record.record import Record
from spotsvm.study.recorded import in_recorded_order, recorded_starts
from spotsvm.study.stop import TimeLimit, with_test_share
from spotsvm.study.study import Study
from spotsvm.study.workers.open import open_workers
from spotsvm.study.workers.protocol import Workers
from spotsvm.trials.constraints import N_VALUES, Constraints
from spotsvm.trials.own_unit import OwnUnits
from spotsvm.trials.sweep import SweptParameter, described_sweep
from spotsvm.trials.trial import Trial, holds_bounds

#: rounding error of a coordinate, from quantiles
_ROUNDING = 1e-9


class SpotSearchRun:
    """One fit of a SpotSearchCV, up to the end of its study.

    `scorer` scores candidates in this process, and describes the context for a record; `scoring` turns scores into outcomes.
    """

    def __init__(self, search: SearchArguments, space: Space, data: SearchData, seed: int | None = None):
        self._search, self._seed = search, seed
        self._data = data
        share = SEARCH_SHARE if search.refit and data.drawn.has_more else 1.0
        self._limit = None if search.timeout is None else TimeLimit(search.timeout, share)
        self.scoring = CandidateScoring(search.search, search.scoring, search.refit)
        needs_answers = search.keep_out_of_fold or search.averages or search.calibrate
        #: the methods that may give the answers of candidates for the test rows; empty if none are kept
        self.responses = responses_of(search.estimator, choosing_scorer(search), search.calibrate) if needs_answers else ()
        #: number of candidates whose answers were too many to keep
        self.n_dropped = 0
        self._make_scorer = partial(
            FoldScorer, search.estimator, data.X, data.y, data.splits, data.given.folds,
            scoring=search.scoring, engine=search.engine, responses=self.responses, error_score=search.error_score,
            return_train_score=search.return_train_score,
        )  # fmt: skip
        limit = self._limit
        is_late = None if limit is None else lambda: limit.left <= 0.0
        self.scorer = self._make_scorer(n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch, is_late=is_late)
        # a record that is there is opened once, and a new one begins after all checks
        there = search.path is not None and checked_path(search.path).is_file()
        self._record = Record(search.path) if there and search.path is not None else None
        try:
            constraints, swept = self._prepared(space)
        except BaseException:
            if self._record is not None:
                self._record.close()
            raise
        space = self._space
        self.scoring = replace(self.scoring, constraints=constraints)
        # one suggestion for each configuration of the other parameters; the sweeps take the rest of the budget
        self._budget, n_values = search.n_iter, N_VALUES
        if swept is not None and not swept.listed:
            n_values, self._budget = grid_size(swept, search.n_iter), int(min(search.n_iter, swept.searched.domain.size))
        self._sweeps = CandidateSweeps(self.scoring, swept, constraints, n_values)

    def _prepared(self, space: Space) -> tuple[Constraints, SweptParameter | None]:
        """Take the order of parameters and the starts from the record, and return constraints and the swept parameter."""
        search = self._search
        space = self._space = in_recorded_order(space, self._record)
        plain = isinstance(search.search, str) and not self.scoring.objectives
        constraints = Constraints.of(search.constraints)
        swept = swept_parameter(search.sweep, space, search.estimator, self.scorer, plain and not needs_space(search.search))
        shared = [not self.scorer.why_not_shared(space.decode(centre)) for centre in space.centres()]
        self._shares_work, self._compiles = plain and all(shared), any(shared)
        self._start, self._own_start = search.start, None
        if search.start is None:
            start: list[dict[str, Any]] = []
            if swept is None and space.domain.size <= search.n_iter:
                start = grid(space)
            elif self._shares_work:
                start = self._own_start = own_start(search.estimator, space, self._data.X, self._data.y)
            self._start = [params for params in start if not constraints.violated(params)]
        if self._record is None and search.path is not None:
            self._record = Record(search.path)
        if self._record is not None and (recorded := recorded_starts(self._record)) is not None:
            about, starts, has_gone_on = recorded  # a resumed search keeps its starts
            known = cast("Any", self._start or [])
            with suppress(SpaceError, ArgumentError):  # the starts are of another space, which the study refuses
                swept = described_sweep(about, space) if search.sweep == AUTO else swept
                if search.start is None and (has_gone_on or not _are_among(starts, known, space, swept)):
                    self._start = starts
        return constraints, swept

    def run(self, task: Callback | None = None) -> Study:
        """Evaluate until the study has `n_iter` finished trials, followed by `task`; return the study, with its record closed."""
        search = self._search
        with self._new_study() as study:
            stop = None if search.stop is None else with_test_share(search.stop, self.scorer.test_share)
            with says_when_interrupted(lambda inner: self.how_to_resume(study)), suppress(FirstTrialsFailedError):
                study.run(  # `best_candidate` raises it if the first trials have failed
                    self._open_workers(),
                    self._budget,
                    batch_size=search.batch_size,
                    retries=search.retries,
                    callback=[*self._callbacks(), *([] if task is None else [task])],
                    stop=stop,
                    timeout=self._limit,
                    # a score for failed fits means that failures are expected
                    max_failures=None if np.isfinite(_score_of_failed(search)) else search.max_failures,
                )
        if study.is_exhausted:
            warnings.warn(
                f"The total space of parameters {study.n_finished} is smaller than n_iter={search.n_iter}. "
                f"Running {study.n_finished} iterations. For exhaustive searches, use GridSearchCV.",
                UserWarning,
                stacklevel=3,
            )
        return study

    @property
    def left_to_refit(self) -> float | None:
        """The seconds left for a refit on more rows; None without a limit, which other refits do not have."""
        return None if self._limit is None or not self._data.drawn.has_more else max(self._limit.left_after, 0.0)

    def how_to_resume(self, study: Study) -> str:
        """Return how many candidates are scored, and how an interrupted fit goes on, in a sentence."""
        swept = self._sweeps.swept
        possible = (study.space if swept is None else swept.searched).domain.size
        fewer = possible < self._search.n_iter
        of = f"{int(possible)} possible" if fewer else str(self._budget)
        done = f"{study.n_finished} of {of} candidates are scored" + f" (n_iter={self._search.n_iter})" * fewer
        if self._search.path is None:
            return f"{done}; fit will start again: pass a path to SpotSearchCV to resume after an interruption"
        return f"{done} and recorded in {study.path}; the same call goes on from there"

    def own_trials(self, study: Study) -> list[Trial]:
        """Return the trial with the estimator's own parameters, if there is one: it always competes, and wins ties."""
        if not self._shares_work:
            return []
        if self._own_start is None:
            self._own_start = own_start(self._search.estimator, study.space, self._data.X, self._data.y)
        points = [study.space.encode(params) for params in self._own_start]
        done = [t for t in study.trials if t.state == "ok" and holds_bounds(t)]
        return [t for t in done for point in points if np.allclose(t.point, point, rtol=0.0, atol=_ROUNDING)][:1]

    def scores_on(
        self, splits: Sequence[Split], candidates: Sequence[Mapping[str, Any]], needed: bool = True
    ) -> list[FoldScores]:
        """Return the scores, with answers, of candidates on these folds; raise an error if all fail although they are needed."""
        search, data = self._search, self._data
        scorer = FoldScorer(
            search.estimator, data.X, data.y, splits, data.given.folds, scoring=search.scoring, engine=search.engine,
            n_jobs=None if search.uses_workers else search.n_jobs, advise=False, responses=self.responses,
        )  # fmt: skip
        scores = scorer.score(candidates)
        failed = [one for one in scores if one.answers is None]
        if needed and len(failed) == len(scores):
            raise scorer.last_error or ArgumentError(f"estimator={self._search.estimator!r} gives no answers for rows")
        if failed:
            reason = (
                f"{len(failed)} of {len(scores)} candidates of the average failed in a fold and are left out: {failed[0].reason}"
            )
            warnings.warn(reason, FitFailedWarning, stacklevel=4)
        return scores

    def _open_workers(self) -> Workers:
        if not self._search.uses_workers:
            return CandidatesHere(self.scorer, self._sweeps, self._n_together())
        return self._elsewhere(CandidateObjective(self._make_scorer, self._sweeps, self._compiles))

    def _n_together(self) -> int:
        """Return how many candidates occupy `n_jobs` workers of joblib with their folds, where scikit-learn scores them."""
        search = self._search
        one_by_one = self._shares_work or search.batch_size is not None or search.error_score == "raise"
        return 1 if one_by_one else self.scorer.n_together

    def _elsewhere(self, objective: CandidateObjective) -> Workers:
        search = self._search
        limits: dict[str, Any] = {"trial_timeout": search.trial_timeout, "memory_limit": search.memory_limit}
        return CandidatesElsewhere(open_workers(objective, search.executor, n_jobs=search.n_jobs, **limits))

    def _callbacks(self) -> list[Any]:
        given = self._search.callback
        several = [] if given is None else list(given) if isinstance(given, Sequence) else [given]
        return [self._show, self._keep_best_answers, *several]

    def _keep_best_answers(self, study: Study, trial: Trial) -> None:
        """Forget the answers of the worst candidates if those of all have more bytes than a table may have."""
        sizes = {t.number: t.answers.nbytes for t in study.trials if t.answers is not None}
        if (size := sum(sizes.values())) <= MOST_BYTES:
            return
        merits = {number: self.scoring.merit(study.trials[number]) for number in sizes}
        worst_first = sorted(sizes, key=lambda number: np.nan_to_num(merits[number], nan=-np.inf))
        dropped: list[int] = []
        for number in worst_first[:-1]:
            if size <= MOST_BYTES:
                break
            dropped.append(number)
            size -= sizes[number]
        study.drop_answers(dropped)
        self.n_dropped += len(dropped)

    def _show(self, study: Study, trial: Trial) -> None:
        if self._search.verbose > 0:
            own = OwnUnits.of(study.about, study.objectives)
            name = "score" if own.error is None else own.error.title
            shown = own.trial(trial)
            score = shown.values if shown.value is None else shown.value
            print(f"[{study.n_finished}/{self._budget}] {trial.state} {name}={score} {dict(trial.params)}")

    def _new_study(self) -> Study:
        search = self._search
        objectives = self.scoring.objectives
        direction: Any = dict.fromkeys(objectives, "maximize") or "maximize"
        try:
            return Study(
                cast("Any", self._space),
                deepcopy(search.search),  # an object with ask and tell has a state, which the next fit must not see
                self._seed,
                direction=direction,
                path=self._record,
                noise=search.noise,
                start=self._start or None,
                context=self._context(objectives),
                sweep=None if self._sweeps.swept is None else self._sweeps.swept.name,
                constraints=search.constraints,
                prior=search.prior,
            )
        except BaseException:
            if self._record is not None:
                self._record.close()
            raise

    def _context(self, objectives: Sequence[str]) -> dict[str, str] | None:
        """Return the context for a record of the scores; None if it is unknown, which only a record does not allow."""
        refit = self._search.refit
        metric = refit if isinstance(refit, str) and refit not in (ONE_SE, AVERAGE) else "the first"
        try:
            return {**self.scorer.context(), "metric to optimise": ", ".join(objectives) or metric}
        except Exception:  # unusual data may fail to pickle in any way
            if self._search.path is not None:
                raise
            return None


def _are_among(
    some: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], space: Space, swept: SweptParameter | None
) -> bool:
    """Return whether configurations are among others, apart from a swept parameter and up to rounding."""

    def place(params: Mapping[str, Any]) -> NDArray[np.float64]:
        point = space.encode(params)
        return point if swept is None else swept.searched_point(point)

    known = [place(params) for params in others]
    return all(any(np.allclose(place(params), at, rtol=0.0, atol=_ROUNDING) for at in known) for params in some)


def _score_of_failed(search: SearchArguments) -> float:
    return float("nan") if isinstance(search.error_score, str) else float(search.error_score)
