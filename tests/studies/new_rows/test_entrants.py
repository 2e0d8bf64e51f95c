import time

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RandomizedSearchCV

from spotsvm.studies.new_rows import entrants
from spotsvm.studies.new_rows.entrants import (
    DEFAULTS,
    ENTRANTS,
    FOREST,
    REFERENCE,
    Trail,
    TuningRows,
    processor_seconds,
    spot,
)
from spotsvm.studies.new_rows.frames import numbers_alone


def job(regression=False, seed=0, n=60):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    X = X.assign(level=rng.choice(["u", "v", "w"], n), day=pd.date_range("2024-01-01", periods=n))
    y = X["a"].to_numpy() + (X["level"] == "u") + 0.3 * rng.standard_normal(n)
    X.loc[::9, "b"] = np.nan
    X.loc[::11, "level"] = None
    return TuningRows(X, 100 + 7 * y if regression else (y > 0).astype(int), regression, seed, 0.01)


@pytest.mark.parametrize("regression", [False, True])
def test_the_reference_is_that_of_scikit_learn(regression):
    task = job(regression)
    (made,) = ENTRANTS[REFERENCE].make(task, (np.inf,))
    # the same by scikit-learn: columns scaled, levels as 0/1 columns, and in regression a target of variance 1
    X = numbers_alone(scaled=True).fit(task.X).transform(task.X)
    mean, scale = (task.y.mean(), task.y.std()) if regression else (0, 1)
    own = entrants._support_vectors(task)
    search = RandomizedSearchCV(own, entrants._space(task), n_iter=25, cv=task.folds, random_state=0)
    predicted = search.fit(X, (task.y - mean) / scale if regression else task.y).predict(X)
    np.testing.assert_allclose(made.model.predict(task.X), mean + scale * predicted)
    assert made.looks == 25
    assert 0 < made.searched < made.seconds


@pytest.mark.parametrize("name", [name for name, entrant in ENTRANTS.items() if not entrant.has_budget and not entrant.lacks()])
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of LogisticRegressionCV
def test_entrants_without_a_budget_make_one_model(name, regression):
    task = job(regression)
    (made,) = ENTRANTS[name].make(task, (np.inf,))
    predicted = made.model.predict(task.X)
    assert predicted.shape == task.y.shape
    if regression:  # in the unit of the target
        assert abs(predicted.mean() - task.y.mean()) < task.y.std()
    assert made.searched <= made.seconds


def test_a_trail_returns_what_was_known_within_each_budget(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 3.0, 9.0])
    monkeypatch.setattr(entrants, "processor_seconds", lambda: next(clock))
    trail = Trail([0.5, 2.5, 5.0])
    trail.look({"C": 1.0}, 0.7)
    trail.look({"C": 2.0}, 0.6)
    trail.look({"C": 3.0}, 0.8)
    assert trail.is_over
    first, second, third = trail.choices()
    assert (first.params, first.looks, first.seconds) == ({}, 0, 0.5)
    assert (second.params, second.looks, second.seconds) == ({"C": 1.0}, 2, 2.5)
    assert (third.params, third.looks, third.seconds) == ({"C": 3.0}, 3, 3.0)


@pytest.mark.parametrize("name", ["random search", "random forest, tuned"])
def test_a_search_returns_its_own_setting_where_nothing_is_complete(name):
    task = job()
    first, second = ENTRANTS[name].make(task, (1e-9, 2e-9))
    base = {"random search": DEFAULTS, "random forest, tuned": FOREST}[name]
    (plain,) = ENTRANTS[base].make(task, (np.inf,))
    assert first.model[-1] is second.model[-1]  # equal settings share a fit
    np.testing.assert_array_equal(first.model.predict(task.X), plain.model.predict(task.X))
    assert first.looks == second.looks == 0


def test_random_search_spends_its_budgets_and_looks_at_more_with_more():
    task = job()
    few, many = ENTRANTS["random search"].make(task, (0.05, 0.4))
    assert 0.05 <= few.seconds
    assert 0.4 <= many.seconds
    assert few.looks < many.looks


def test_spot_search_ends_within_its_budget():
    task = job()
    task = task._replace(X=numbers_alone(scaled=True).fit(task.X).transform(task.X))
    spot(task, [0.3])  # compiled
    (made,) = spot(task, [0.3])
    assert made.looks > 0
    assert made.searched <= 0.3
    (nothing,) = spot(task, [1e-9])
    assert nothing.looks == 0
    assert nothing.model.C == 1.0


def test_processor_time_is_of_work_and_not_of_waiting():
    began = processor_seconds()
    time.sleep(0.2)
    waited = processor_seconds() - began
    while processor_seconds() - began < 0.1 + waited:
        sum(range(1000))
    assert waited < 0.15


def test_why_optuna_cannot_run(monkeypatch):
    monkeypatch.setattr(entrants, "find_spec", lambda package: None)
    assert ENTRANTS["Optuna TPE"].lacks() == "optuna is not installed"
