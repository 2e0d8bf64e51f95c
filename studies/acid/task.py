"""The task of the acid study (preprocessing and SVM on random splits of the training rows), and its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.comparison.runs import Entrant, Run, Task, run_search
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.preprocessing.importance_fraction import ImportanceFraction
from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
from spotsvm.space.space import Space
from spotsvm.studies.acid.data import AcidData, Rows, acid_data
from spotsvm.studies.common.data import Floats, Params
from spotsvm.trials.metrics import mean_class_accuracy
from spotsvm.trials.recommendation import recommend
from spotsvm.tuning.pipelines.spectra import spectra_pipeline

CLASSES = (1, 2, 3, 4, 5)
REPEATS = 2
#: best setting in the paper's Table 8, for the real acid data, which are not public
PRINTED = {"XPERC": 0.237, "GAMMA": 0.195, "COST": 54.6} | {
    f"{name}[{c}]": value
    for name, values in (("CLASSWT", (0.849, 0.431, 0.246, 0.468, 0.814)), ("CUTOFF", (0.216, 0.023, 0.335, 0.389, 0.232)))
    for c, value in zip(CLASSES, values, strict=True)
}
#: tuned parameters if they are not all twelve; otherwise all features, balanced weights and equal cutoffs are used
FEWER = {"three": ("XPERC", "GAMMA", "COST"), "two": ("GAMMA", "COST")}
REGIONS = ("default", *FEWER, "table8", "table7")

_NAMES = {"XPERC": "importancefraction__fraction"} | {
    paper: f"cutoffclassifier__{ours}"
    for paper, ours in [
        ("GAMMA", "estimator__gamma"),
        ("COST", "estimator__C"),
        *((f"CLASSWT[{c}]", f"class_weight__{c}") for c in CLASSES),
        *((f"CUTOFF[{c}]", f"cutoff__{c}") for c in CLASSES[:-1]),
    ]
}
_KEPT = 12  # principal components; further components contain the detector's noise
_FOREST: dict[str, Any] = {"n_estimators": 50, "max_samples": 0.3, "min_samples_leaf": 2}


def acid_space(region: str) -> dict[str, Any]:
    """Return the search space of a region, one of `REGIONS`; see `AcidStudy`."""
    space = spectra_pipeline("classification", 100, CLASSES, region=_pipeline_region(region))[1]
    return {paper: space[ours] for paper, ours in _NAMES.items() if paper in FEWER.get(region, _NAMES)}


def _pipeline_region(region: str) -> Literal["default", "table7", "table8"]:
    return "default" if region in FEWER else cast("Any", region)


class AcidTask:
    """Mean class accuracy of a setting, the mean of two random splits of the training rows; larger is better.

    What depends on the split alone is cached, so that searches from the same seed share it. Weights are relative to balanced
    weights, except in the paper's regions.
    """

    def __init__(self, source: str, quick: bool = False, region: str = "default"):
        self.source, self.quick, self.region = source, quick, region

    @property
    def data(self) -> AcidData:
        """The data, loaded once in a process."""
        return _data(self.source, self.quick)

    @property
    def default(self) -> dict[str, float]:
        """The pipeline's own parameters; its gamma="scale" is 1 / (number of features), as these are scaled."""
        own = {"XPERC": ImportanceFraction().fraction, "COST": SVC().C}
        own |= {f"CLASSWT[{c}]": 1.0 for c in CLASSES} | {f"CUTOFF[{c}]": 1 / len(CLASSES) for c in CLASSES}
        names = acid_space(self.region)
        ranking = _final_features(self.source, self.quick)[-1]
        gamma = 1 / len(most_important(ranking, own["XPERC"] if "XPERC" in names else 1.0))
        return {name: gamma if name == "GAMMA" else own[name] for name in names}

    def __call__(self, params: Params, seed: int) -> dict[str, float]:
        """Evaluate a setting on two splits drawn from the seed; return both scores, and their mean as "value"."""
        seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS)
        scores = [self._score(params, *_split_features(self.source, self.quick, int(s))) for s in seeds]
        return {"value": float(np.mean(scores))} | {f"repeat_{k}": score for k, score in enumerate(scores)}

    def test(self, params: Params) -> float:
        """Train a setting on all training rows, and score it on the test rows."""
        return self._score(params, *_final_features(self.source, self.quick))

    def confusion(self, params: Params) -> NDArray[np.intp]:
        """Train a setting on all training rows; return the numbers of test rows by true class (rows) and predicted class."""
        return _confusion(*self._predicted(params, *_final_features(self.source, self.quick)))

    def _score(self, params: Params, *features: Any) -> float:
        return mean_class_accuracy(*self._predicted(params, *features))

    def _predicted(
        self, params: Params, train: Floats, y: Rows, later: Floats, later_y: Rows, ranking: Floats
    ) -> tuple[Rows, Rows]:
        """Return the classes of later rows, and the predicted ones."""
        kept = most_important(ranking, float(params.get("XPERC", 1.0)))
        scaler = StandardScaler().fit(train[:, kept])
        machine = machine_of(params, len(y), self.region).fit(scaler.transform(train[:, kept]), y)
        return later_y, machine.predict(scaler.transform(later[:, kept]))


def machine_of(params: Params, n_samples: int, region: str) -> CutoffClassifier:
    """Return the pipeline's classifier with a setting's parameters."""
    machine: CutoffClassifier = spectra_pipeline("classification", n_samples, CLASSES, region=_pipeline_region(region))[0][-1]
    own = {_NAMES[name].partition("__")[2]: value for name, value in params.items() if name != "XPERC"}
    return machine.set_params(**own, estimator__cache_size=400)


def untuned_svc(data: AcidData) -> float:
    """Return the score on the test rows of an untuned SVC with balanced weights on the scaled spectra."""
    return mean_class_accuracy(data.y[data.test], _untuned_classes(data))


def untuned_confusion(data: AcidData) -> NDArray[np.intp]:
    """Return the confusion matrix of this SVC on the test rows."""
    return _confusion(data.y[data.test], _untuned_classes(data))


def _untuned_classes(data: AcidData) -> Rows:
    machine = make_pipeline(StandardScaler(), SVC(class_weight="balanced")).fit(data.X[data.train], data.y[data.train])
    return np.asarray(machine.predict(data.X[data.test]), dtype=np.intp)


def _confusion(y: Rows, predicted: Rows) -> NDArray[np.intp]:
    return np.asarray(confusion_matrix(y, predicted, labels=CLASSES), dtype=np.intp)


def most_important(ranking: Floats, share: float) -> NDArray[np.intp]:
    """Return the fewest features that together have a share of the importance, as selected by `ImportanceFraction`."""
    order = np.argsort(-ranking, kind="stable")
    held = np.cumsum(ranking[order])
    return np.sort(order[: int(np.searchsorted(held, share * held[-1] * (1 - 1e-12))) + 1])


def _features(data: AcidData, train: Rows, later: Rows, seed: int) -> tuple[Floats, Rows, Floats, Rows, Floats]:
    """Return the features and classes of the training rows and of later rows, and the ranking of the features."""
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


#: an SVC with balanced weights on the scaled spectra, and the pipeline with its defaults
UNTUNED = ("untuned SVC", "untuned pipeline")


class AcidEntrant(NamedTuple):
    """A region, an argument of `acid_space`, and a tuner."""

    region: str
    search: Entrant


def shared_task(source: str, quick: bool, region: str, n_trials: int, folder: Path | None = None) -> Task:
    """Return the settings that all runs in a region share; they start at the pipeline's defaults."""
    task = AcidTask(source, quick, region)
    path = None if folder is None else folder / f"{source}_{region}"
    return Task(task, Space(acid_space(region)), n_trials, "maximize", noise=True, folder=path, start=task.default)


def runs_from_seed(
    tasks: Mapping[str, Task], entrants: Mapping[str, AcidEntrant], seed: int, budgets: Sequence[int]
) -> list[dict[str, Any]]:
    """Run all tuners from a seed, each on the task of its region; return a row for each tuner and budget.

    The first 25 of 100 design points are the result of a budget of 25, as no search knows its budget. `tuned` is the best value
    seen, `predicted` the expected value of the recommended trial, `test` its score on the test rows.
    """
    rows = []
    for label, entrant in entrants.items():
        run = run_search(tasks[entrant.region], label, entrant.search, seed)
        rows += budget_rows(run, entrant.region, tasks[entrant.region], budgets)
    return rows


def budget_rows(run: Run, region: str, shared: Task, budgets: Sequence[int]) -> list[dict[str, Any]]:
    """Return a run's recommendation after each budget, and its score on the test rows."""
    tested: dict[int, float] = {}
    rows = []
    for budget in budgets:
        trials = run.trials[:budget]
        chosen = recommend(trials, shared.space.domain, sign=-1.0, noise=True, seed=run.seed)
        for number, params in ((chosen.number, chosen.params), (chosen.best_seen_number, chosen.best_seen_params)):
            if number not in tested:
                tested[number] = shared.objective.test(params)  # type: ignore[attr-defined]
        rows.append(
            {
                "tuner": run.search,
                "region": region,
                "budget": budget,
                "tuned": chosen.best_seen_value,
                "predicted": chosen.value,
                "test": tested[chosen.number],
                "test_best_seen": tested[chosen.best_seen_number],
                "recommended": chosen.number,
                "best_seen": chosen.best_seen_number,
                "failed": sum(t.state != "ok" for t in trials),
                "ask_seconds": sum(t.ask_seconds or 0.0 for t in trials) / budget,
                **chosen.params,
            }
        )
    return rows
