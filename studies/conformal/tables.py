"""The runs of the conformal study on Mushroom and on other real sets, and all its tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.studies.common.data import DataSet, Floats, data_folder, read_set, stand_ins
from spotsvm.studies.conformal.toy import EVEN, FACTORS, PAPER, PRINTED, SIGMA, C, draw_points, labels_of, two_passes

N_TRAIN, N_TEST = 100, 1000


class Printed(NamedTuple):
    """A row of the printed table: C, sigma, and the error in percent before and after modification."""

    C: float
    sigma: float
    before: float
    after: float


TABLE = (
    Printed(10.0, 0.6, 11.20, 7.05),
    Printed(10.0, 1.0, 4.02, 2.95),
    Printed(50.0, 0.6, 10.86, 7.46),
    Printed(100.0, 0.6, 11.97, 7.75),
)


def encoded(table: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the rows without missing values as numbers, and labels -1 and 1, of a table of letters with classes in column y.

    The letters of a column are in alphabetical order, scaled to -1 .. 1: the encoding nearest to the printed errors.
    """
    table = table.dropna()
    letters = table.drop(columns="y")
    X = np.column_stack([pd.factorize(letters[name], sort=True)[0] for name in letters]).astype(np.float64)
    top = X.max(axis=0)
    return 2.0 * X / np.where(top > 0, top, 1.0) - 1.0, np.where(table["y"] == table["y"].min(), -1.0, 1.0)


def run_mushroom(X: Floats, y: Floats, C: float, sigma: float, factor: str, bias: bool, seed: int, draw: int) -> dict[str, Any]:
    """Run one draw with 100 training rows and 1000 test rows; return the error rates of both passes.

    The rows depend on seed and draw only.
    """
    order = np.random.default_rng([seed, draw]).permutation(len(y))
    train, test = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_TEST]
    machine = two_passes(factor, bias, C, sigma, X.shape[1]).fit(X[train], y[train])
    before, after = ((machine.staged_decision_function(X[test]) >= 0) != (y[test] > 0)).mean(axis=1).tolist()
    return {"draw": draw, "before": before, "after": after}


class Improvement(NamedTuple):
    """A relative improvement, (before - after) / before, in percent, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def improvement_by_draw(before: Floats, after: Floats) -> Improvement:
    """Return the mean over draws of each draw's relative improvement; draws without an error before have none."""
    some = before > 0
    return _interval(100.0 * (before[some] - after[some]) / before[some])


def improvement_of_means(before: Floats, after: Floats) -> Improvement:
    """Return the relative improvement of the mean error over all draws; its interval is by the delta method."""
    mean = before.mean()
    if mean == 0:
        return Improvement(np.nan, np.nan, np.nan)
    ratio = (before - after).mean() / mean
    return _interval(100.0 * (ratio + (before - after - ratio * before) / mean))


def _interval(values: Floats) -> Improvement:
    if not len(values):
        return Improvement(np.nan, np.nan, np.nan)
    low, high = nadeau_bengio(values, 0.0) if len(values) > 1 else (np.nan, np.nan)
    return Improvement(float(values.mean()), low, high)


def toy_row(runs: pd.DataFrame) -> dict[str, Any]:
    """Return the row of the table of the toy experiment, from the rows of `run_toy` with one factor, density and bias."""
    factor, left, bias = runs[["factor", "left", "bias"]].iloc[0]
    known = runs.dropna(subset="before")
    before, after = known["before"].to_numpy(), known["after"].to_numpy()
    by_draw, of_means = improvement_by_draw(before, after), improvement_of_means(before, after)
    row: dict[str, Any] = {
        "factor": factor,
        "left": 100 * left,
        "bias": "yes" if bias else "no",
        "draws": len(known),
        "before": 100 * before.mean(),
        "after": 100 * after.mean(),
        "improvement": by_draw.mean,
        "low": by_draw.low,
        "high": by_draw.high,
        "of means": of_means.mean,
        "of means, low": of_means.low,
        "of means, high": of_means.high,
        "far before": 100 * known["far_before"].mean(),
        "far after": 100 * known["far_after"].mean(),
        "max|f|": known["max_f"].mean(),
    }
    return row | {"printed": PRINTED if factor == PAPER and left == EVEN else np.nan}


def mushroom_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each setting: mean errors in percent with standard errors, those of the rivals, and the printed errors."""
    rows = []
    for printed in TABLE:
        of_setting = runs[(runs["C"] == printed.C) & (runs["sigma"] == printed.sigma)]
        group = of_setting[of_setting.factor == PAPER]
        of_means = improvement_of_means(group["before"].to_numpy(), group["after"].to_numpy())
        row: dict[str, Any] = {"C": printed.C, "sigma": printed.sigma, "draws": len(group)}
        for what in ("before", "after"):
            errors = 100 * group[what].to_numpy()
            row |= {what: errors.mean(), f"se {what}": errors.std(ddof=1) / np.sqrt(len(errors))}
        row |= {"improvement": of_means.mean, "low": of_means.low, "high": of_means.high}
        for factor in FACTORS[1:]:
            row[f"after, {factor}"] = 100 * of_setting[of_setting.factor == factor]["after"].mean()
        row |= {"printed before": printed.before, "printed after": printed.after}
        rows.append(row | {"printed improvement": 100 * (printed.before - printed.after) / printed.before})
    return pd.DataFrame(rows)


NAMES = ("crabs", "german_numeric", "glass2", "heart_statlog", "ionosphere", "lawsuit", "liver", "pima", "sonar", "wisconsin")
#: the models that are compared with SVC, with its C and gamma
ENTRANTS = {
    "paper": ConformalSVC(kappa="auto", bias=True),
    "no threshold": ConformalSVC(kappa="auto", bias=False),
    "scaled threshold": ConformalSVC(kappa="auto"),
    "support vectors": ConformalSVC(factor="support", kappa="auto", bias=True),
    "support vectors, default": ConformalSVC(factor="support"),
    "default": ConformalSVC(),
}
_COSTS = 2.0 ** np.arange(-3, 10, 3)
_GAMMAS = 2.0 ** np.arange(-6, 5, 2)  # times 1/d
_TEST_SHARE = 1 / 3
TOY = "toy"


def real_sets() -> list[DataSet]:
    """Return the available sets of the folder SPOTSVM_DATA, or two sets of scikit-learn."""
    folder = data_folder()
    there = [name for name in NAMES if folder is not None and (folder / f"{name}.csv").is_file()]
    return [read_set(name) for name in there] or stand_ins()


def run_set(data: DataSet, seed: int, split: int) -> dict[str, Any]:
    """Run all entrants on one split of a set with two thirds for training; return their error rates.

    C and gamma are those that suit SVC best in five folds of the training rows.
    """
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, test_size=_TEST_SHARE, stratify=data.y, random_state=np.random.RandomState([seed, split])
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    candidates = [{"C": float(cost), "gamma": float(g / X.shape[1])} for cost in _COSTS for g in _GAMMAS]
    best = candidates[int(cross_val_scores(SVC(), X, y, candidates, cv=5).mean(axis=1).argmax())]
    return {"draw": split} | _errors(best, X, y, X_test, y_test)


def run_toy_split(seed: int, draw: int) -> dict[str, Any]:
    """Run all entrants on one draw of the toy experiment with the paper's C and sigma."""
    X, X_test = draw_points(seed, draw)
    return {"draw": draw} | _errors({"C": C, "gamma": 1 / (2 * SIGMA**2)}, X, labels_of(X), X_test, labels_of(X_test))


def _errors(params: dict[str, float], X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    errors = {"svc": 1 - SVC(**params).fit(X, y).score(X_test, y_test)}
    for name, entrant in ENTRANTS.items():
        errors[name] = 1 - clone(entrant).set_params(**params).fit(X, y).score(X_test, y_test)
    return errors


def sets_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each set: mean errors in percent, and the default's error minus SVC's with its 95 % interval."""
    rows = []
    for name, group in runs.groupby("set", sort=False):
        difference = 100 * (group["default"] - group["svc"]).to_numpy()
        # draws of the toy experiment are independent; splits of one set share rows
        low, high = nadeau_bengio(difference, 0.0 if name == TOY else _TEST_SHARE / (1 - _TEST_SHARE))
        row: dict[str, Any] = {"set": name, "splits": len(group)}
        row |= {entrant: 100 * group[entrant].mean() for entrant in ("svc", *ENTRANTS)}
        rows.append(row | {"default - svc": difference.mean(), "low": low, "high": high})
    return pd.DataFrame(rows)
