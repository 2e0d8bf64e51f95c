"""What the acid study tunes: preprocessing and machine on random splits of the training rows, twice for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.class_accuracy import mean_class_accuracy
from spotsvm.cutoff_classifier import CutoffClassifier
from spotsvm.pipelines.spectra import spectra_pipeline
from spotsvm.pipelines.table import iteration_cap
from spotsvm.preprocessing.importance_fraction import ImportanceFraction
from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
from studies.acid_data import AcidData, Rows, acid_data

Floats = NDArray[np.float64]
Params = Mapping[str, Any]

CLASSES = (1, 2, 3, 4, 5)
REPEATS = 2
#: what the paper's Table 8 prints as best, of the real acid data, which are not public
PRINTED = {"XPERC": 0.237, "GAMMA": 0.195, "COST": 54.6} | {
    f"{name}[{c}]": value
    for name, values in (("CLASSWT", (0.849, 0.431, 0.246, 0.468, 0.814)), ("CUTOFF", (0.216, 0.023, 0.335, 0.389, 0.232)))
    for c, value in zip(CLASSES, values, strict=True)
}
DEFAULT = {"XPERC": 1.0, "GAMMA": None, "COST": 1.0}

_NAMES = {"XPERC": "importancefraction__fraction"} | {
    paper: f"cutoffclassifier__{ours}"
    for paper, ours in [
        ("GAMMA", "estimator__gamma"),
        ("COST", "estimator__C"),
        *((f"CLASSWT[{c}]", f"class_weight__{c}") for c in CLASSES),
        *((f"CUTOFF[{c}]", f"cutoff__{c}") for c in CLASSES[:-1]),
    ]
}
_KEPT = 12  # principal components: the others hold the detector's noise
_FOREST: dict[str, Any] = {"n_estimators": 50, "max_samples": 0.3, "min_samples_leaf": 2}


def acid_space(region: str) -> dict[str, Any]:
    """Give the twelve parameters and where they are searched.

    Parameters
    ----------
    region : {"table7", "table8"}
        Which of the paper's two tables; their gamma and C differ.
    """
    space = spectra_pipeline("classification", 100, CLASSES, region=region)[1]
    return {paper: space[ours] for paper, ours in _NAMES.items()}


class AcidTask:
    """Mean class accuracy of a setting, the mean of two random splits of the training rows; larger is better.

    Principal components, their monomials and the forest's ranking depend on the split alone: they are made once for each
    split and remembered, so that searches from one seed, whose n-th trials have the same splits, share them.

    Parameters
    ----------
    source : {"simulated", "tecator"}
        The data.
    quick : bool, default=False
        Whether these are few.
    """

    def __init__(self, source: str, quick: bool = False):
        self.source, self.quick = source, quick

    @property
    def data(self) -> AcidData:
        """The data, loaded once in a process."""
        return _data(self.source, self.quick)

    def __call__(self, params: Params, seed: int) -> dict[str, float]:
        """Evaluate a setting on two splits that the seed draws; "value" is the mean, and both are there."""
        seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS)
        scores = [self._score(params, *_split_features(self.source, self.quick, int(s)), int(s)) for s in seeds]
        return {"value": float(np.mean(scores))} | {f"repeat_{k}": score for k, score in enumerate(scores)}

    def test(self, params: Params) -> float:
        """Train a setting on all training rows, and score it on the test rows."""
        return self._score(params, *_final_features(self.source, self.quick), 0)

    def _score(self, params: Params, train: Floats, y: Rows, later: Floats, later_y: Rows, ranking: Floats, seed: int) -> float:
        kept = most_important(ranking, float(params["XPERC"]))
        scaler = StandardScaler().fit(train[:, kept])
        machine = machine_of(params, len(y)).fit(scaler.transform(train[:, kept]), y)
        return mean_class_accuracy(later_y, machine.predict(scaler.transform(later[:, kept])))


def machine_of(params: Params, n_samples: int) -> CutoffClassifier:
    """Give the machine of a setting; of one without weights and cutoffs the plain one."""
    gamma = "scale" if params["GAMMA"] is None else params["GAMMA"]
    svc = SVC(C=params["COST"], gamma=gamma, max_iter=iteration_cap(n_samples), cache_size=400)
    weights = {c: params[f"CLASSWT[{c}]"] for c in CLASSES if f"CLASSWT[{c}]" in params}
    cutoffs = {c: params[f"CUTOFF[{c}]"] for c in CLASSES if f"CUTOFF[{c}]" in params}
    return CutoffClassifier(svc, class_weight=weights or None, cutoff=cutoffs or None, classes=list(CLASSES), excess="scale")


def most_important(ranking: Floats, share: float) -> NDArray[np.intp]:
    """Give the fewest features that together hold a share of the importance, as `ImportanceFraction` selects them.

    Examples
    --------
    >>> most_important(np.array([0.2, 0.5, 0.3]), 0.75).tolist()
    [1, 2]
    """
    order = np.argsort(-ranking, kind="stable")
    held = np.cumsum(ranking[order])
    return np.sort(order[: int(np.searchsorted(held, share * held[-1] * (1 - 1e-12))) + 1])


def _features(data: AcidData, train: Rows, later: Rows, seed: int) -> tuple[Floats, Rows, Floats, Rows, Floats]:
    """Give the features of rows to train on and of later ones, with their classes, and the ranking of the features."""
    monomials = PrincipalMonomials(n_kept=_KEPT).fit(data.X[train])
    features = monomials.transform(data.X[train])
    ranking = ImportanceFraction(1.0, task="classification", random_state=seed, **_FOREST).fit(features, data.y[train])
    return features, data.y[train], monomials.transform(data.X[later]), data.y[later], ranking.importances_


@lru_cache(maxsize=4)
def _data(source: str, quick: bool) -> AcidData:
    return acid_data(source, quick)


@lru_cache(maxsize=220)  # the splits of 100 settings; 300 MB of the paper's size
def _split_features(source: str, quick: bool, seed: int) -> tuple[Floats, Rows, Floats, Rows, Floats]:
    data = _data(source, quick)
    return _features(data, *data.split(seed), seed)


@lru_cache(maxsize=4)
def _final_features(source: str, quick: bool) -> tuple[Floats, Rows, Floats, Rows, Floats]:
    data = _data(source, quick)
    return _features(data, data.train, data.test, 0)
