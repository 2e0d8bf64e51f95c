"""Scores of candidates that differ only in the cutoffs of a CutoffClassifier: they share one fit of each fold."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from spotsvm.cross_validation.fitted_folds import FittedFolds
from spotsvm.cross_validation.fold_fits import FoldScoring, Remembered, Scored, View
from spotsvm.cross_validation.fold_scores import Candidate, Clock, FoldScores
from spotsvm.cross_validation.machines import NotSharedError, split_pipeline
from spotsvm.cross_validation.shared_scores import known_score
from spotsvm.estimators.class_entries import class_cutoffs
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.luck.scores import Score

_log = logging.getLogger(__name__)


class CutoffSweeps:
    """Candidates of a CutoffClassifier, alone or last in a pipeline, that share a fit, and their scorers.

    The scorers use the rows only through the classifier.
    """

    def __init__(self, estimator: Any, scorers: Mapping[str, Any], fitted: FittedFolds, clock: Clock):
        self._estimator, self._scorers = estimator, scorers
        self._fitted, self._clock = fitted, clock
        self._prefix = f"{estimator.steps[-1][0]}__" if type(estimator) is Pipeline else ""

    def covers(self, name: str) -> bool:
        """Return whether this parameter is a cutoff, so that another value needs no new fit."""
        return name.startswith(f"{self._prefix}cutoff__")

    def why_not_shared(self, candidate: Mapping[str, Any], swept: str) -> str:
        """Return why candidates that differ from this one in the parameter `swept` need fits of their own; empty if not."""
        if not self.covers(swept):
            return f"of a CutoffClassifier only {self._prefix}cutoff__<class> needs no new fit"
        try:
            self._cutoff_of(candidate)
        except NotSharedError as reason:
            return str(reason)
        return ""

    def scores(self, candidates: Mapping[int, Candidate]) -> dict[int, FoldScores]:
        """Return the scores of those candidates that share a fit with another."""
        found: dict[int, FoldScores] = {}
        for numbers in self.groups(candidates):
            group = [candidates[k] for k in numbers]
            if len(group) == 1 or self._clock.is_late():
                continue
            try:
                sweep = CutoffSweep([self._cutoff_of(candidate) for candidate in group], self._scorers)
            except NotSharedError as reason:  # which is raised again, or reported, when each is scored
                _log.info("%s and others are scored one by one: %s", dict(group[0]), reason)
                continue
            without = {name: value for name, value in group[0].items() if not self.covers(name)} | {f"{self._prefix}cutoff": None}
            found |= dict(zip(numbers, self._fitted.scores_of_sweep(without, sweep), strict=True))
        return found

    def groups(self, candidates: Mapping[int, Candidate]) -> list[list[int]]:
        """Return the groups of candidates that differ only in their cutoffs."""
        groups: dict[Any, list[int]] = {}
        for k, candidate in candidates.items():
            rest = tuple(sorted((name, _identity(value)) for name, value in candidate.items() if not self.covers(name)))
            groups.setdefault(rest, []).append(k)
        return list(groups.values())

    def _cutoff_of(self, candidate: Mapping[str, Any]) -> Any:
        try:
            _, last = split_pipeline(clone(self._estimator).set_params(**clone(dict(candidate), safe=False)))
        except (ValueError, TypeError) as error:
            raise NotSharedError(str(error)) from error
        if type(last) is not CutoffClassifier:
            raise NotSharedError(f"{last!r} is not a CutoffClassifier")
        return last.cutoff


@dataclass(frozen=True)
class CutoffSweep:
    """Cutoffs with which a fitted CutoffClassifier, alone or last in a pipeline, is scored."""

    cutoffs: Sequence[Any]
    scorers: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.cutoffs)

    def views(self, fitted: Any, test: Any, train: Any) -> list[View | Exception]:
        """Return the classifier with each of the cutoffs, or the error of a fit with it."""
        transformers, last = split_pipeline(fitted)
        sides = [rows if transformers is None or rows is None else transformers.transform(rows) for rows in (test, train)]
        remembered = [Remembered(last.estimator_, rows) for rows in sides]
        known = {name: known_score(scorer, last.classes_) for name, scorer in self.scorers.items()}
        found: list[View | Exception] = []
        for cutoff in self.cutoffs:
            try:
                shares = class_cutoffs(cutoff, last.classes_, last.excess)
                voters = [_with_cutoffs(last, shares, one) for one in remembered]
                found.append(_CutoffView(voters, sides, self.scorers, known))
            except Exception as error:
                found.append(error)
        return found


def _with_cutoffs(fitted: CutoffClassifier, cutoffs: Any, estimator: Any) -> CutoffClassifier:
    voter = copy(fitted)
    voter.cutoff_, voter.estimator_ = cutoffs, estimator
    return voter


class _CutoffView(View):
    """A classifier with one of the cutoffs."""

    def __init__(
        self, voters: Sequence[Any], sides: Sequence[Any], scorers: Mapping[str, Any], known: Mapping[str, Score | None]
    ):
        super().__init__(voters[0], *sides)
        self._voters = dict(zip(("test", "train"), voters, strict=True))
        self._scorers, self._known = scorers, known

    def scores(self, scoring: FoldScoring, side: str, y: Any, params: Mapping[str, Any]) -> Scored:
        """Return the scores of the rows on one side: known scores of labels from the predictions alone, others by scorers."""
        voter, rows, truth = self._voters[side], self.rows[side], np.asarray(y)
        classes = voter.classes_
        if truth.ndim == 1 and np.isin(truth, classes).all():
            with suppress(Exception):  # it is raised again, or reported, below
                numbers = self._from_labels(voter, rows, y, np.searchsorted(classes, truth))
                if np.isfinite(list(numbers.values())).all():
                    return Scored(numbers, scoring.several)
        return scoring.scores(voter, rows, y, params)

    def _from_labels(self, voter: Any, rows: Any, y: Any, code: NDArray[np.intp]) -> dict[str, float]:
        labels, weights = np.searchsorted(voter.classes_, voter.predict(rows)), np.ones(len(code))
        found: dict[str, float] = {}
        for name, scorer in self._scorers.items():
            score = self._known[name]
            is_known = score is not None and score.kind == "labels"
            found[name] = float(score.of(labels, code, weights, strict=True)) if score is not None and is_known else np.nan
            if np.isnan(found[name]):
                found[name] = float(scorer(voter, rows, y))
        return found


def _identity(value: Any) -> Any:
    """Return a text that two values share only if they are certainly equal."""
    return repr((type(value), value)) if isinstance(value, str | int | float | None) else f"object {id(value)}"
