"""Tables 4 and 5 of Carrizosa 2014, printed and reproduced: kernels on groups of columns, tuned by nested searches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold

from spotsvm.multi_kernel import ConicModel, FixedKernelModel, KernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.nested import nested
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels import squared_distances
from spotsvm.solvers.search.registry import SearchName
from spotsvm.studies.common.data import has_table
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.common.plain_search import PLAIN
from spotsvm.studies.common.view_sets import MFEAT_VIEWS, ViewSet, digits_by_quarters, read_ads, read_mfeat
from spotsvm.studies.nested_vns.rivals import MKL
from spotsvm.study.given import equal_start


class Printed(NamedTuple):
    """A row of Table 4 or 5: test errors in percent of 12 other methods and of nested VNS, and its rank among the 13.

    The paper prints no errors of the other methods for model (8); their errors for model (7) are used.
    """

    best: float
    median: float
    worst: float
    error: float
    rank: int


#: (model, data set): "linear" is Table 4, "fixed" model (7) and "tuned" model (8) of Table 5
TABLES_4_AND_5: dict[tuple[str, str], Printed] = {
    ("linear", "pendigitEO"): Printed(6.47, 6.66, 11.07, 7.25, 11),
    ("linear", "pendigitSL"): Printed(8.88, 9.06, 15.56, 10.45, 11),
    ("linear", "mfeatEO4"): Printed(1.99, 2.15, 4.22, 2.34, 10),
    ("linear", "mfeatEO6"): Printed(1.61, 1.76, 3.10, 1.46, 1),
    ("linear", "mfeatSL4"): Printed(4.82, 5.11, 9.46, 6.19, 12),
    ("linear", "mfeatSL6"): Printed(2.19, 2.54, 10.82, 2.30, 2),
    ("linear", "addata"): Printed(3.41, 3.72, 4.90, 3.22, 1),
    ("fixed", "mfeatEO4"): Printed(0.67, 0.96, 2.18, 0.74, 4),
    ("fixed", "mfeatEO6"): Printed(0.58, 0.67, 7.22, 0.65, 3),
    ("fixed", "mfeatSL4"): Printed(1.43, 1.63, 4.60, 1.58, 5),
    ("fixed", "mfeatSL6"): Printed(0.97, 1.25, 7.25, 0.99, 3),
    ("fixed", "addata"): Printed(3.81, 4.34, 11.88, 3.24, 1),
    ("tuned", "mfeatEO4"): Printed(0.67, 0.96, 2.18, 0.72, 4),
    ("tuned", "mfeatEO6"): Printed(0.58, 0.67, 7.22, 0.53, 1),
    ("tuned", "mfeatSL4"): Printed(1.43, 1.63, 4.60, 1.40, 1),
    ("tuned", "mfeatSL6"): Printed(0.97, 1.25, 7.25, 0.95, 1),
    ("tuned", "addata"): Printed(3.81, 4.34, 11.88, 3.39, 1),
}


def rank_bounds(printed: Printed, error: float) -> tuple[int, int]:
    """Return the best and the worst possible rank of an error among 13 methods, from printed errors of three others.

    The printed error and rank of nested VNS narrow the range. An equal error does not count as smaller.
    """
    error = float(error)
    # bounds of the number of other methods with a smaller error, which rises with the error
    fewest = max(
        [0]
        + [1] * (error > printed.best)
        + [6] * (error > printed.median)
        + [12] * (error > printed.worst)
        + [printed.rank - 1] * (error >= printed.error)
    )
    most = min(
        [12]
        + [11] * (error <= printed.worst)
        + [6] * (error <= printed.median)
        + [0] * (error <= printed.best)
        + [printed.rank - 1] * (error <= printed.error)
    )
    return fewest + 1, most + 1


#: m_1 and m_2 of section 3.3
TRIALS = (100, 500)
#: three RBF kernels for each group: sigma is a quarter of, equal to and four times its number of columns (eq. 13)
SCALES = (0.25, 1.0, 4.0)
MODELS = ("linear", "fixed", "tuned")
SEARCHES: dict[str, SearchName] = {"VNS of the paper": "carrizosa2014", "vns": "vns"}
#: models whose kernels are fixed, so that methods of multiple kernel learning find their weights
WEIGHED = ("linear", "fixed")
#: C of the rivals, with kernels of mean square 1
COSTS = tuple(2.0**k for k in range(-4, 5, 2))
TABLES = {"linear": "4, linear (10)", "fixed": "5, model (7)", "tuned": "5, model (8)"}


def view_sets() -> list[ViewSet]:
    """Read the available sets: the views of numerals in four tasks, and part of the advertisements."""
    return [*(read_mfeat(task, n_views) for task in ("EO", "SL") for n_views in (4, 6)), read_ads()]


def quick_view_sets() -> list[ViewSet]:
    """Return 400 rows of a task on numerals, or without its files scikit-learn's digits by quarters."""
    if not all(has_table(f"mfeat_{view}") for view in MFEAT_VIEWS[:4]):
        return [digits_by_quarters()]
    whole = read_mfeat("EO", 4)
    return [whole._replace(name=f"{whole.name} (400 rows)", X=whole.X[::5], y=whole.y[::5])]


def model_sequence(model: str, data: ViewSet) -> list[KernelModel]:
    """Return the nested models: one or two parameters first, then a weight for each kernel, and for "tuned" its width."""
    if model == "linear":
        return [FixedKernelModel(data.groups, kernel="linear"), ConicModel(data.groups, kernel="linear")]
    if model == "fixed":
        return [FixedKernelModel(data.groups, kernel="rbf", scales=SCALES), ConicModel(data.groups, kernel="rbf", scales=SCALES)]
    return [RbfModel(data.groups), TunedConicModel(data.groups)]


def kernel_jobs(sets: Sequence[ViewSet], seeds: Sequence[int], trials: tuple[int, int] = TRIALS) -> list[Job]:
    """Return the jobs that tune each model on each set from each seed by each search.

    A seed determines the training rows, the folds and the search.
    """
    names = ("data set", "model", "search", "seed")
    cases = product(sets, MODELS, SEARCHES, seeds)
    return [Job(dict(zip(names, (data.name, *case), strict=True)), _run, (data, *case, trials)) for data, *case in cases]


def rival_jobs(sets: Sequence[ViewSet], seeds: Sequence[int], costs: Sequence[float] = COSTS) -> list[Job]:
    """Return the jobs of the methods of multiple kernel learning, on the same training rows and folds."""
    names = ("data set", "model", "search", "seed")
    cases = product(sets, WEIGHED, MKL, seeds)
    return [Job(dict(zip(names, (data.name, *case), strict=True)), _rival, (data, *case, costs)) for data, *case in cases]


def tune_nested(
    models: Sequence[KernelModel], X: Any, y: Any, search: SearchName, seed: int, trials: tuple[int, int] = TRIALS
) -> SpotSearchCV:
    """Return a fitted nested search; its first trial is the centre of the poorest model's space."""
    richest = models[-1]
    centre = equal_start(models[0].space())[-1]
    return SpotSearchCV(
        richest.estimator(),
        richest.space(),
        n_iter=sum(trials),
        search=nested(models, (trials[0] - 1, trials[1]), search),
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=seed),
        random_state=seed,
        **PLAIN | {"start": richest.embed(models[0], centre)},
    ).fit(X, y)


def _run(data: ViewSet, model: str, search: str, seed: int, trials: tuple[int, int]) -> dict[str, Any]:
    began = time.process_time()
    X, y, X_test, y_test = data.split(seed)
    models = model_sequence(model, data)
    richest = models[-1]
    tuned = tune_nested(models, X, y, SEARCHES[search], seed, trials)
    scores = np.array(tuned.cv_results_["mean_test_score"])
    first = int(np.argmax(scores[: trials[0]]))
    poorer = richest.estimator(tuned.cv_results_["params"][first]).fit(X, y)
    return {
        "parameters": richest.n_parameters,
        "cross-validated error of the poorer model": 100.0 * (1.0 - scores[first]),
        "test error of the poorer model": 100.0 * (1.0 - poorer.score(X_test, y_test)),
        "cross-validated error": 100.0 * (1.0 - tuned.best_score_),
        "test error": 100.0 * (1.0 - tuned.best_estimator_.score(X_test, y_test)),
        "seconds": time.process_time() - began,
    }


def _rival(data: ViewSet, model: str, method: str, seed: int, costs: Sequence[float]) -> dict[str, Any]:
    began = time.process_time()
    X, y, X_test, y_test = data.split(seed)
    kernels, of_test = base_kernels(model, data, X, X), base_kernels(model, data, X_test, X)
    units = np.einsum("mii->m", kernels)[:, None, None] / len(y)  # mean squares of the training rows
    kernels, of_test = kernels / units, of_test / units
    folds = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=seed).split(X, y))
    errors = [
        np.mean([_error_of(method, kernels[:, a][:, :, a], y[a], kernels[:, b][:, :, a], y[b], cost) for a, b in folds])
        for cost in costs
    ]
    best = int(np.argmin(errors))
    return {
        "parameters": len(kernels),
        "cross-validated error": 100.0 * errors[best],
        "test error": 100.0 * _error_of(method, kernels, y, of_test, y_test, costs[best]),
        "seconds": time.process_time() - began,
    }


def base_kernels(model: str, data: ViewSet, X: Any, Z: Any) -> Any:
    """Return the kernels of each group between two sets of rows, (m, n_X, n_Z): linear, or Gaussian with the widths of eq. 13."""
    found = []
    for columns in data.groups.values():
        A, B = X[:, columns], Z[:, columns]
        if model == "linear":
            found.append(A @ B.T)
        else:
            distances = squared_distances(A, B)
            found += [np.exp(-distances / (scale * A.shape[1])) for scale in SCALES]
    return np.array(found)


def _error_of(method: str, kernels: Any, y: Any, of_test: Any, y_test: Any, cost: float) -> float:
    """Return the error on test rows of the machine with the weights that a method finds on the training rows."""
    weights = MKL[method](kernels, y, cost)
    result = solve_dual(np.tensordot(weights, kernels, 1), y, cost, "exact", bias=True)
    decision = np.tensordot(weights, of_test, 1) @ (result.alpha * y) + result.bias
    return float(np.mean((decision > 0) != (y_test > 0)))


def kernel_table(runs: pd.DataFrame, others: bool = True) -> pd.DataFrame:
    """Return a row for each set and model: printed figures, and mean, standard deviation and rank of each search over the seeds.

    With `others` printed sets that were not run have rows too. A rank is the range that the printed best, median and worst errors
    of the 12 other methods allow. Incomplete data have no rank.
    """
    rows = []
    for model in MODELS:
        printed_sets = [name for of_model, name in TABLES_4_AND_5 if of_model == model]
        ours = list(dict.fromkeys(runs[runs.model == model]["data set"]))
        missing = [n for n in printed_sets if not any(o.startswith(n) for o in ours)] if others else []
        for name in [*ours, *missing]:
            rows.append(_row(model, name, runs[(runs.model == model) & (runs["data set"] == name)]))
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def _row(model: str, name: str, runs: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"table": TABLES[model], "data set": name if len(runs) else f"{name} (not available)"}
    printed = TABLES_4_AND_5.get((model, name.split(" ")[0]))
    if printed is not None:
        row |= {"best": printed.best, "median": printed.median, "worst": printed.worst}
        row |= {"nested VNS printed": printed.error, "rank printed": str(printed.rank)}
    for search in map(str, runs["search"].unique()):
        of_search = runs[runs.search == search]
        errors = of_search["test error"]
        row |= {search: errors.mean(), f"sd {search}": errors.std()}
        if search in SEARCHES and printed is not None and (model, name) in TABLES_4_AND_5:  # incomplete data have no rank
            low, high = rank_bounds(printed, float(errors.mean()))
            row[f"rank {search}"] = str(low) if low == high else f"{low} to {high}"
        if search in SEARCHES:
            row[f"poorer model, {search}"] = of_search["test error of the poorer model"].mean()
    return row


def on_tables_4_and_5(runs: pd.DataFrame) -> str:
    """Return in words on which sets of numerals the rank is at least as good as the printed rank."""
    texts = []
    for search, of_search in runs[runs.search.isin(SEARCHES)].groupby("search", sort=False):
        good: list[str] = []
        rest: list[str] = []
        for key, group in of_search.groupby(["model", "data set"], sort=False):
            model, name = map(str, key)
            printed = TABLES_4_AND_5.get((model, name))
            if printed is None or not name.startswith("mfeat"):
                continue
            errors = group["test error"].to_numpy(dtype=np.float64)
            spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
            as_good = rank_bounds(printed, float(errors.mean()))[1] <= printed.rank
            shown = f"{TABLES[model]} {name} ({errors.mean():.2f} +- {spread:.2f}, printed {printed.error:.2f})"
            (good if as_good else rest).append(shown)
        if good or rest:
            texts.append(
                f"{search!s}: rank at least as good as printed in {len(good)} of {len(good) + len(rest)} cases"
                + (f"; not on {', '.join(rest)}" if rest else "")
            )
    columns = ["test error of the poorer model", "test error"]
    means = runs[runs.search.isin(SEARCHES)].groupby("search", sort=False)[columns].mean()
    nest = ", ".join(f"{row.Index} {row[1]:.2f} to {row[2]:.2f}" for row in means.itertuples())
    ranks = (
        f"Means over {runs.seed.nunique()} seeds on the views of numerals, +- their standard errors. {'. '.join(texts)}. "
        if texts
        else ""
    )
    rivals = runs[~runs.search.isin(SEARCHES)]
    texts = [
        f"{TABLES[str(model)]}: "
        + ", ".join(
            f"{search!s} {error:.2f}" for search, error in group.groupby("search", sort=False)["test error"].mean().items()
        )
        for model, group in runs[runs.model.isin(rivals.model)].groupby("model", sort=False)
    ]
    beside = f" Mean test error of the rivals, table by table: {'; '.join(texts)}." if texts else ""
    return f"{ranks}Mean test error over all sets, from the poorer model to the richer: {nest}.{beside}"
