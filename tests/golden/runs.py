"""Small runs through public names: what they asked for, what they learned, and a digest of all their bits.

`python tests/golden/runs.py` records them anew; `--bits` prints a digest of each run, to compare two checkouts on one machine.
Use the same command in both: equal digests mean equal trials, answers, weights and estimates to the last bit. The runs use public
names alone, so the file of one checkout serves both, each with the Python of its own environment.
"""

import argparse
import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from spotsvm import SpotSearchCV, Study, TunedSVC, TunedSVR, expected_score
from spotsvm.searches import SEARCHES

RECORDED = Path(__file__).with_name("recorded.json")
C, GAMMA = loguniform(2**-5, 2**10), loguniform(2**-10, 2**3)
#: two of these searches have several objectives
SEVERAL = ("nsga2", "parego")


def rows(load, n, seed=0):
    X, y = load(return_X_y=True)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(y))[:n])
    return X[chosen], y[chosen]


def mixed_table(n=90):
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"size": rng.normal(size=n), "colour": rng.choice(["red", "green", "blue"], n), "day": "2024-01-01"})
    X["day"] = pd.to_datetime(X["day"]) + pd.to_timedelta(rng.integers(365, size=n), unit="D")
    X.loc[::9, "size"] = np.nan
    return X, np.where(X["size"].fillna(0) + (X["colour"] == "red") + 0.5 * rng.normal(size=n) > 0.3, "yes", "no")


#: origins of the trials that no model made
DESIGN = ("start", "centre", "design", "grid", "random", "lhs")


def design(trials):
    """Return the parameters of the trials before any model."""
    return [dict(t.params) for t in trials if t.origin in DESIGN]


def of_search(search, luck=None):
    trials = search.study_.trials
    known = {name: getattr(search, name) for name in vars(search) if name.startswith("oof_")}
    expected = getattr(search, "expected_score_", luck)
    return {
        "design": design(trials),
        "learned": {
            "best": None if not hasattr(search, "best_score_") else search.best_score_,
            "expected": None if expected is None else [expected.value, *expected.interval],
            **known,
        },
        "bits": [[dict(t.params) for t in trials], [[t.value, t.values] for t in trials], search.cv_results_.get("weight")],
    }


def of_tuned(model):
    estimates = [model.expected_score_, model.default_score_, model.constant_score_, model.verdict_]
    return {
        "design": model.settings_[["family", "width"]].drop_duplicates().to_dict("records"),
        "learned": {
            "best": model.settings_["score"].max(),
            "answers": model.average_oof_,
            "estimates": [[one.value, *one.interval] for one in estimates],
        },
        "bits": [model.settings_.to_dict("list")],
    }


def searched_classes():
    X, y = rows(load_iris, 90)
    search = SpotSearchCV(SVC(), {"C": C, "gamma": GAMMA}, n_iter=8, cv=3, random_state=0).fit(X, y)
    return of_search(search, expected_score(search, X, y))


def searched_average():
    X, y = rows(load_diabetes, 90)
    space = {"svr__C": loguniform(1, 1e3), "svr__gamma": GAMMA, "svr__epsilon": [0.1, 5.0]}
    machine = make_pipeline(StandardScaler(), SVR())
    return of_search(SpotSearchCV(machine, space, n_iter=8, cv=3, refit="average", random_state=1).fit(X, y))


def searched_calibrated():
    X, y = rows(load_breast_cancer, 100)
    machine, space = make_pipeline(StandardScaler(), SVC()), {"svc__C": C, "svc__gamma": GAMMA}
    search = SpotSearchCV(machine, space, n_iter=8, cv=4, scoring="roc_auc", calibrate=True, random_state=2)
    return of_search(search.fit(X, y))


def searched_class_weights():
    X, y = rows(load_wine, 100)
    space = {"svc__C": C, "svc__class_weight": [None, "balanced", {0: 2.0}]}
    groups = np.arange(len(y)) // 4
    machine = make_pipeline(StandardScaler(), SVC())
    search = SpotSearchCV(
        machine, space, n_iter=9, cv=GroupKFold(3), scoring="balanced_accuracy", refit="average", random_state=3
    )
    return of_search(search.fit(X, y, groups=groups))


def searched_with_bounds():
    X, y = rows(load_breast_cancer, 90, 1)
    machine, space = make_pipeline(StandardScaler(), SVC()), {"svc__C": C, "svc__gamma": GAMMA}
    search = SpotSearchCV(
        machine, space, n_iter=8, cv=3, scoring=["accuracy", "recall"], refit="accuracy", constraints={"recall": (">=", 0.9)},
        random_state=4,
    )  # fmt: skip
    return of_search(search.fit(X, y))


def searched_trees():
    X, y = rows(load_wine, 90, 2)
    space = {"max_depth": [1, 2, 3, None], "ccp_alpha": loguniform(1e-4, 0.1)}
    search = SpotSearchCV(
        DecisionTreeClassifier(random_state=0), space, n_iter=8, cv=3, scoring="neg_log_loss", refit="average", random_state=5
    )
    return of_search(search.fit(X, y))


def searched_repeated_folds():
    X, y = rows(load_diabetes, 80, 3)
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = SpotSearchCV(Ridge(), {"alpha": loguniform(1e-4, 1e2)}, n_iter=8, cv=cv, refit="average", random_state=6)
    return of_search(search.fit(X, y))


def tuned_two_classes():
    X, y = rows(load_breast_cancer, 90, 4)
    return of_tuned(TunedSVC(cv=3, random_state=0).fit(X, y))


def tuned_weighted_classes():
    X, y = rows(load_wine, 80, 5)
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    model = TunedSVC(cv=3, class_weight="balanced", scoring="neg_log_loss", random_state=1)
    return of_tuned(model.fit(X, y, sample_weight=weights))


def tuned_table():
    X, y = mixed_table()
    space = {"class_weight__yes": loguniform(0.5, 2.0), "scale__size": loguniform(0.3, 3.0)}
    return of_tuned(TunedSVC(cv=3, budget=20, space=space, scoring="balanced_accuracy", random_state=2).fit(X, y))


def tuned_regression():
    X, y = rows(load_diabetes, 90, 6)
    return of_tuned(TunedSVR(cv=3, random_state=3).fit(X, y))


def tuned_groups():
    X, y = rows(load_diabetes, 80, 7)
    model = TunedSVR(cv=3, families=["rbf", "linear"], average=False, scoring="neg_mean_absolute_error", random_state=4)
    return of_tuned(model.fit(X, y, groups=np.arange(len(y)) // 4))


def bowl(params):
    params = {"x": np.log10(params.get("gamma", 1.0)), "kind": "a", **params}
    value = (params["x"] - 0.3) ** 2 + 0.1 * abs(np.log10(params["C"]) - 1.0) + (params["kind"] == "b") * 0.2
    return float(value)


def two_bowls(params):
    return {"values": [bowl(params), (params["x"] - 0.9) ** 2]}


def studied(name):
    space = {"x": (0.0, 1.0), "C": loguniform(1e-2, 1e4), "kind": ["a", "b"]}
    if name == "keerthi_lin":
        space = {"C": space["C"], "gamma": loguniform(1e-4, 1e1)}
    several = name in SEVERAL
    study = Study(space, name, seed=7, noise=False, **({"direction": ["minimize", "minimize"]} if several else {}))
    if name == "kriging_per_second":  # with durations that no clock measures
        for _ in range(24):
            trial = study.ask()
            study.tell(trial, bowl(trial.params), seconds=0.1 + trial.params["x"])
    else:
        study.run(two_bowls if several else bowl, 12 if name == "koch2011" else 24)
    trials = study.trials
    best = {"best": min(t.value for t in trials)} if not several else {}
    return {
        "design": design(trials),
        "learned": best,
        "bits": [[dict(t.params) for t in trials], [[t.value, t.values] for t in trials]],
    }


RUNS = {
    **{
        run.__name__: run
        for run in (
            searched_classes,
            searched_average,
            searched_calibrated,
            searched_class_weights,
            searched_with_bounds,
            searched_trees,
            searched_repeated_folds,
            tuned_two_classes,
            tuned_weighted_classes,
            tuned_table,
            tuned_regression,
            tuned_groups,
        )
    },
    **{f"study_{name}": (lambda name=name: studied(name)) for name in SEARCHES},
}


def plain(value):
    """Return a value as JSON types."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray | pd.Series):
        return [plain(one) for one in (value.tolist() if hasattr(value, "tolist") else value)]
    return value.item() if isinstance(value, np.generic) else value


def rounded(value):
    """Return a value whose numbers have ten digits."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def digest(found):
    return hashlib.sha256(json.dumps(plain(found), sort_keys=True).encode()).hexdigest()[:16]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", action="store_true", help="print digests and record nothing")
    parser.add_argument("names", nargs="*", default=list(RUNS))
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    recorded = {}
    for name in chosen.names:
        found = RUNS[name]()
        if chosen.bits:
            print(name, digest(found))
        recorded[name] = {key: rounded(plain(found[key])) for key in ("design", "learned")}
    if not chosen.bits:
        RECORDED.write_text(json.dumps(recorded, indent=None, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
