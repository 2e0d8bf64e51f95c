"""Tables 4 and 5 of Carrizosa 2014: combinations of kernels on groups of columns, tuned by nested searches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import RepeatedStratifiedKFold

from spotsvm.multi_kernel import ConicModel, FixedKernelModel, KernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.nested import nested
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.view_sets import ViewSet, digits_by_quarters, read_ads, read_mfeat
from spotsvm.studies.nested_vns.printed import TABLES_4_AND_5, rank_bounds
from spotsvm.trials.start import equal_start

#: m_1 and m_2 of section 3.3
TRIALS = (100, 500)
#: three RBF kernels a group, sigma a quarter of, equal to and four times the number of its columns (eq. 13)
SCALES = (0.25, 1.0, 4.0)
MODELS = ("linear", "fixed", "tuned")
SEARCHES = {"VNS of the paper": "carrizosa2014", "vns": "vns"}
TABLES = {"linear": "4, linear (10)", "fixed": "5, model (7)", "tuned": "5, model (8)"}


def view_sets() -> list[ViewSet]:
    """Read the sets that are at hand: the views of numerals in four tasks, and part of the advertisements.

    Raises
    ------
    DataError
        If SPOTSVM_DATA is not set, or the folder lacks a set.
    """
    return [*(read_mfeat(task, n_views) for task in ("EO", "SL") for n_views in (4, 6)), read_ads()]


def quick_view_sets() -> list[ViewSet]:
    """Give a small set of scikit-learn."""
    return [digits_by_quarters()]


def model_sequence(model: str, data: ViewSet) -> list[KernelModel]:
    """Give the nested models: one parameter or two, then a weight for each kernel, in "tuned" its width as well."""
    if model == "linear":
        return [FixedKernelModel(data.groups, kernel="linear"), ConicModel(data.groups, kernel="linear")]
    if model == "fixed":
        return [FixedKernelModel(data.groups, kernel="rbf", scales=SCALES), ConicModel(data.groups, kernel="rbf", scales=SCALES)]
    return [RbfModel(data.groups), TunedConicModel(data.groups)]


def kernel_runs(
    sets: Sequence[ViewSet], seeds: Sequence[int], trials: tuple[int, int] = TRIALS, n_jobs: int | None = None
) -> pd.DataFrame:
    """Tune every model on every set from every seed: a row a run, errors in percent.

    A seed decides the rows that are trained on, the folds and the search.
    """
    jobs = product(sets, MODELS, SEARCHES, seeds)
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(delayed(_run)(*job, trials) for job in jobs))


def tune_nested(
    models: Sequence[KernelModel], X: Any, y: Any, search: str, seed: int, trials: tuple[int, int] = TRIALS
) -> SpotSearchCV:
    """Return a fitted nested search; the first trial is the centre of the poorest model's space, whatever the search."""
    richest = models[-1]
    centre = equal_start(models[0].space())[-1]
    return SpotSearchCV(
        richest.estimator(),
        richest.space(),
        n_iter=sum(trials),
        search=nested(models, (trials[0] - 1, trials[1]), search),
        start=richest.embed(models[0], centre),
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=seed),
        random_state=seed,
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
        "data set": data.name,
        "model": model,
        "parameters": richest.n_parameters,
        "search": search,
        "seed": seed,
        "cross-validated error of the poorer model": 100.0 * (1.0 - scores[first]),
        "test error of the poorer model": 100.0 * (1.0 - poorer.score(X_test, y_test)),
        "cross-validated error": 100.0 * (1.0 - tuned.best_score_),
        "test error": 100.0 * (1.0 - tuned.best_estimator_.score(X_test, y_test)),
        "seconds": time.process_time() - began,
    }


def kernel_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a set and model: what is printed, and of each search mean and standard deviation over the seeds, and the rank.

    A rank is given as the range that the printed best, median and worst of the 12 other methods leave open; on part of the
    data there is none.
    """
    rows = []
    for model in MODELS:
        printed_sets = [name for of_model, name in TABLES_4_AND_5 if of_model == model]
        ours = list(dict.fromkeys(runs[runs.model == model]["data set"]))
        for name in [*ours, *(n for n in printed_sets if not any(o.startswith(n) for o in ours))]:
            rows.append(_row(model, name, runs[(runs.model == model) & (runs["data set"] == name)]))
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def _row(model: str, name: str, runs: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"table": TABLES[model], "data set": name if len(runs) else f"{name} (not to be had)"}
    printed = TABLES_4_AND_5.get((model, name.split(" ")[0]))
    if printed is not None:
        row |= {"best": printed.best, "median": printed.median, "worst": printed.worst}
        row |= {"nested VNS printed": printed.error, "rank printed": str(printed.rank)}
    for search, of_search in runs.groupby("search", sort=False):
        errors = of_search["test error"]
        row |= {str(search): errors.mean(), f"sd {search}": errors.std()}
        if printed is not None and (model, name) in TABLES_4_AND_5:  # a part of the data has no rank
            low, high = rank_bounds(printed, float(errors.mean()))
            row[f"rank {search}"] = str(low) if low == high else f"{low} to {high}"
        row[f"poorer model, {search}"] = of_search["test error of the poorer model"].mean()
    return row


def on_tables_4_and_5(runs: pd.DataFrame) -> str:
    """Say on how many of the numerals' sets the rank is at least as good as printed, and where it is not."""
    texts = []
    for search, of_search in runs.groupby("search", sort=False):
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
    means = runs.groupby("search", sort=False)[columns].mean()
    nest = ", ".join(f"{row.Index} {row[1]:.2f} to {row[2]:.2f}" for row in means.itertuples())
    ranks = (
        f"Means over {runs.seed.nunique()} seeds on the views of numerals, +- their standard errors. {'. '.join(texts)}. "
        if texts
        else ""
    )
    return f"{ranks}From the poorer model to the richer the mean test error over all sets goes: {nest}."
