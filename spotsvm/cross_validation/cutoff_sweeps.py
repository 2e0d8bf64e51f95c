"""Scores of candidates that differ only in the cutoffs of a CutoffClassifier: they share one fit of each fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from spotsvm.cross_validation.machines import NotSharedError, split_pipeline
from spotsvm.cross_validation.shared_scores import known_score
from spotsvm.estimators.class_entries import class_cutoffs
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier


class CutoffSweeps:
    """Candidates of a CutoffClassifier, alone or last in a pipeline, that share a fit, and their scorers.

    Parameters
    ----------
    estimator : CutoffClassifier or Pipeline
        The estimator whose parameters the candidates are.
    scorers : dict of str to scorer
        The scorers by metric; they use the rows only through the classifier.
    """

    def __init__(self, estimator: Any, scorers: Mapping[str, Any]):
        self._estimator, self._scorers = estimator, scorers
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

    def groups(self, candidates: Sequence[Mapping[str, Any]]) -> list[list[int]]:
        """Return the groups of candidates that differ only in their cutoffs, as indices."""
        groups: dict[Any, list[int]] = {}
        for k, candidate in enumerate(candidates):
            rest = tuple(sorted((name, _identity(value)) for name, value in candidate.items() if not self.covers(name)))
            groups.setdefault(rest, []).append(k)
        return list(groups.values())

    def without_cutoffs(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        """Return a candidate with equal cutoffs, whose fit all candidates of its group share."""
        return {name: value for name, value in candidate.items() if not self.covers(name)} | {f"{self._prefix}cutoff": None}

    def scoring(self, candidates: Sequence[Mapping[str, Any]]) -> EachCutoff:
        """Return a callable for `scoring` that scores all candidates of a group; NotSharedError if scikit-learn has to do it."""
        return EachCutoff([self._cutoff_of(candidate) for candidate in candidates], self._scorers)

    def numbers(self, results: Mapping[str, Any], n_candidates: int, n_splits: int) -> list[dict[str, float] | None]:
        """Return the scores of each candidate from `cv_results_` of such a `scoring`; None if scikit-learn has to score it.

        Each candidate has an equal share of the times.
        """
        times = {key: float(results[key][0]) / n_candidates for key in results if key.endswith(("_fit_time", "_score_time"))}
        sides = [f"split{i}_{side}_" for i in range(n_splits) for side in ("test", "train") if f"split0_{side}_0:" in results]
        found: list[dict[str, float] | None] = []
        for k in range(n_candidates):
            failed = any(results[f"{side}{k}:"][0] for side in sides)
            scores = {f"{side}{name}": float(results[f"{side}{k}:{name}"][0]) for side in sides for name in self._scorers}
            found.append(None if failed else times | scores)
        return found

    def _cutoff_of(self, candidate: Mapping[str, Any]) -> Any:
        try:
            _, last = split_pipeline(clone(self._estimator).set_params(**clone(dict(candidate), safe=False)))
        except (ValueError, TypeError) as error:
            raise NotSharedError(str(error)) from error
        if type(last) is not CutoffClassifier:
            raise NotSharedError(f"{last!r} is not a CutoffClassifier")
        return last.cutoff


@dataclass(frozen=True)
class EachCutoff:
    """Scores a fitted CutoffClassifier, alone or last in a pipeline, with each of several cutoffs.

    Scores are named by the cutoff's index and the metric, as in `2:score`. Without a metric, `2:` is 1 if scikit-learn has to
    report an error: the cutoffs are invalid, or a scorer fails or does not return a number.
    """

    cutoffs: Sequence[Any]
    scorers: Mapping[str, Any]

    def __call__(self, estimator: Any, X: Any, y: Any) -> dict[str, float]:
        """Return the scores."""
        transformers, last = split_pipeline(estimator)
        rows = X if transformers is None else transformers.transform(X)
        voter = copy(last)
        voter.estimator_ = _Remembered(last.estimator_, rows)
        truth, classes = np.asarray(y), voter.classes_
        plain = truth.ndim == 1 and bool(np.isin(truth, classes).all())
        known = {name: known_score(scorer, classes) for name, scorer in self.scorers.items()} if plain else {}
        of_labels = {name: score for name, score in known.items() if score is not None and score.kind == "labels"}
        code, weights = np.searchsorted(classes, truth) if plain else truth, np.ones(len(truth))
        scores: dict[str, float] = {}
        for k, cutoff in enumerate(self.cutoffs):
            try:
                voter.cutoff_ = class_cutoffs(cutoff, classes, voter.excess)
                labels = np.searchsorted(classes, voter.predict(rows)) if of_labels else code
                found = {name: float(score.of(labels, code, weights, strict=True)) for name, score in of_labels.items()}
                for name, scorer in self.scorers.items():
                    if np.isnan(found.get(name, np.nan)):
                        found[name] = float(scorer(voter, rows, y))
            except Exception:  # it is raised again, or reported, when scikit-learn scores the candidate
                found = dict.fromkeys(self.scorers, np.nan)
            failed = not np.isfinite(list(found.values())).all()
            scores |= {f"{k}:{name}": 0.0 if failed else found[name] for name in self.scorers} | {f"{k}:": float(failed)}
        return scores


class _Remembered:
    """A fitted classifier that computes its decisions or probabilities for certain rows once."""

    def __init__(self, fitted: Any, rows: Any):
        self._fitted, self._rows = fitted, rows
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fitted, name)

    def decision_function(self, X: Any) -> Any:
        return self._answer("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        return self._answer("predict_proba", X)

    def _answer(self, method: str, X: Any) -> Any:
        if X is not self._rows:
            return getattr(self._fitted, method)(X)
        if method not in self._known:
            self._known[method] = getattr(self._fitted, method)(X)
        return self._known[method]


def _identity(value: Any) -> Any:
    """Return a text that two values share only if they are certainly equal."""
    return repr((type(value), value)) if isinstance(value, str | int | float | None) else f"object {id(value)}"
