"""Out-of-fold decisions and members against scikit-learn's SVC and SVR."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_moons
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import TunedSVC, TunedSVR
from spotsvm.cross_validation.fast_machines import Machines, class_labels
from spotsvm.solvers.kernels import squared_distances
from spotsvm.tuned import base, training_rows
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.families import typical_distance
from spotsvm.tuned.grid import score_grid
from spotsvm.tuned.members import fit_members
from spotsvm.tuned.sweeps import Setting, Sweep, Sweeps

COSTS = (0.5, 8.0)


def columns_of(kinds, encodings):
    return Columns(kinds)


def classes_of(y):
    k = len(np.unique(y))
    return Machines(class_labels(y, k), np.ones(len(y)), k, code=y)


def grid_of(X, y, machines, splits, sweeps=(("rbf", -2.0),), quality=lambda s, d: (0.0, 1.0), **kwargs):
    target = np.eye(machines.n_classes)[y] if machines.n_classes else y[:, None]
    epsilon = 0.0 if machines.n_classes else 0.1
    listed = Sweeps(Sweep(*sweep, epsilon) for sweep in sweeps)
    default = kwargs.pop("default", lambda train: (1.0, epsilon))
    return score_grid(X, machines, target, splits, listed, lambda sweep: COSTS, default, quality, columns=columns_of, **kwargs)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_out_of_fold_decisions_are_those_of_svc(load):
    X, y = load(return_X_y=True)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    grid = grid_of(X, y, classes_of(y), splits)
    for C, found, default in [(*pair, False) for pair in zip(COSTS, grid.decisions, strict=True)] + [(1.0, grid.default, True)]:
        for train, test in splits:
            A = StandardScaler().fit_transform(X[train])
            gamma = "scale" if default else 0.25 / typical_distance(squared_distances(A))
            model = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma, decision_function_shape="ovr", tol=1e-4)).fit(
                X[train], y[train]
            )
            assert found[test] == pytest.approx(model.decision_function(X[test]), abs=0.02)


def test_two_classes_are_one_column_positive_for_the_second():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    splits = list(StratifiedKFold(3).split(X, y))
    found = grid_of(X, y, classes_of(y), splits).default
    assert found.shape == (len(y), 1)
    train, test = splits[0]
    model = make_pipeline(StandardScaler(), SVC(tol=1e-4)).fit(X[train], y[train])
    assert found[test, 0] == pytest.approx(model.decision_function(X[test]), abs=0.02)


def test_regressions_are_those_of_svr():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], (y[:150] - y.mean()) / y.std()
    splits = list(KFold(3).split(X))
    grid = grid_of(X, y, Machines(y[None], np.ones(len(y)), 0), splits)
    for train, test in splits:
        model = make_pipeline(StandardScaler(), SVR(tol=1e-4)).fit(X[train], y[train])
        assert grid.default[test, 0] == pytest.approx(model.predict(X[test]), abs=0.02)


def test_the_default_of_a_fold_is_scaled_by_its_training_rows():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], (y[:150] - y.mean()) / y.std()
    y[0] = 30.0  # the deviation in two of three folds is much larger
    splits = list(KFold(3).split(X))

    def default(train):
        return y[train].std(), 0.1 * y[train].std()

    found = grid_of(X, y, Machines(y[None], np.ones(len(y)), 0), splits, default=default).default
    scaled = TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR(tol=1e-4)), transformer=StandardScaler())
    for train, test in splits:
        theirs = scaled.fit(X[train], y[train]).predict(X[test])
        assert found[test, 0] == pytest.approx(theirs, abs=0.02 * y[train].std())


def test_members_on_all_rows_are_svc():
    X, y = load_iris(return_X_y=True)
    columns = Columns(("standard",)).fit(X, np.eye(3)[y])
    settings = [Setting("rbf", -2.0, C=C) for C in COSTS]
    (member,), rows = fit_members(columns, X, classes_of(y), settings, [0, 1])
    A = rows["standard"]["standard"]
    for C, found in zip(COSTS, member.decisions(squared_distances(A, member.rows)), strict=True):
        model = SVC(C=C, gamma=0.25 / member.unit, tol=1e-5).fit(A, y)
        assert found == pytest.approx(model.decision_function(A), abs=5e-3)


def test_a_row_in_several_test_folds_has_the_mean_and_one_in_none_nothing():
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(y))
    one, other = rows % 3 != 0, rows % 3 != 1
    a = grid_of(X, y, classes_of(y), [(rows[one], rows[~one])]).decisions[0]
    assert np.isnan(a[one]).all()
    assert np.isfinite(a[~one]).all()
    test = rows[:30]
    b = grid_of(X, y, classes_of(y), [(rows[one], test)]).decisions[0]
    c = grid_of(X, y, classes_of(y), [(rows[other], test)]).decisions[0]
    both = grid_of(X, y, classes_of(y), [(rows[one], test), (rows[other], test)]).decisions[0]
    assert both[test] == pytest.approx(0.5 * (b[test] + c[test]), abs=1e-5)


def test_a_sweep_ends_where_a_larger_C_is_far_behind_and_not_better():
    X, y = load_iris(return_X_y=True)
    splits = list(StratifiedKFold(3).split(X, y))
    values = iter([(1.0, 0.1), (0.5, 0.1), (0.5, 0.1), (0.6, 0.1), (0.7, 0.1)])
    sweeps = Sweeps([Sweep("rbf", -2.0), Sweep("rbf", 0.0)])
    grid = score_grid(
        X, classes_of(y), np.eye(3)[y], splits, sweeps, lambda sweep: (1.0, 2.0, 4.0), lambda train: (1.0, 0.0),
        lambda s, d: next(values), columns=columns_of,
    )  # fmt: skip
    assert [(s.log_gamma, s.C) for s in grid.settings] == [(-2.0, 1.0), (-2.0, 2.0), (0.0, 1.0), (0.0, 2.0), (0.0, 4.0)]


def test_threads_do_not_change_anything_and_a_deadline_leaves_the_first_setting():
    X, y = load_wine(return_X_y=True)
    splits = list(StratifiedKFold(3).split(X, y))
    sweeps = [("rbf", -2.0), ("relevance_laplacian", -1.0)]
    one, two = (grid_of(X, y, classes_of(y), splits, sweeps, n_jobs=n) for n in (1, 2))
    assert one.settings == two.settings
    assert np.array_equal(one.decisions, two.decisions)
    late = grid_of(X, y, classes_of(y), splits, sweeps, deadline=0.0)
    assert not late.complete
    assert late.settings == one.settings[:1]


def test_factors_of_columns_and_classes_are_those_of_scaled_columns_and_class_weight():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2, :4], y[y < 2]
    machines = Machines(class_labels(y, 2), np.ones(len(y)), 2, code=y)
    factors = (0.1, 1.0, 3.0, 0.5)
    sweep = Sweep("rbf", -2.0, column_factors=factors, class_factors=(1.0, 4.0))
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    splits = [(np.flatnonzero(train), np.flatnonzero(test))]
    grid = score_grid(X, machines, np.eye(2)[y], splits, Sweeps([sweep]), lambda sweep: (2.0,), lambda train: (1.0, 0.0),
                      lambda s, d: (0.0, 1.0), columns=columns_of)  # fmt: skip
    scaler = StandardScaler().fit(X[train])
    A, B = (scaler.transform(part) * factors for part in (X[train], X[test]))
    gamma = 0.25 / typical_distance(squared_distances(A))
    model = SVC(C=2.0, gamma=gamma, class_weight={1: 4.0}, tol=1e-4).fit(A, y[train])
    assert grid.decisions[0][test, 0] == pytest.approx(model.decision_function(B), abs=0.02)
    columns = Columns(("standard",)).fit(X, np.eye(2)[y])
    (member,), _ = fit_members(columns, X, machines, grid.settings, [0])
    A = StandardScaler().fit_transform(X) * factors
    model = SVC(C=2.0, gamma=0.25 / member.unit, class_weight={1: 4.0}, tol=1e-5).fit(A, y)
    K = np.exp(-0.25 / member.unit * squared_distances(A))
    assert (K @ member.beta[0].T + member.bias[0])[:, 0] == pytest.approx(model.decision_function(A), abs=5e-3)


X2, Y2 = make_moons(120, noise=0.25, random_state=0)
X2_NEW, Y2_NEW = make_moons(2000, noise=0.25, random_state=1)


def quick(**parameters):
    return TunedSVC(**{"budget": 2, "random_state": 0, **parameters})


@pytest.mark.filterwarnings("ignore:parameters were tuned on 70, and the model is fitted to 100:spotsvm.errors.DataWarning")
def test_the_grid_has_a_sample_and_the_members_have_all_rows(monkeypatch):
    y = Y2 * (np.arange(120) % 9 == 0)
    model = quick(rows=60).fit(X2, y)
    judged = np.isfinite(model.oof_predict_proba_[:, 0])
    assert judged.sum() == 60
    assert y[judged].mean() == pytest.approx(y.mean(), abs=0.01)
    assert model.n_rows_ == 120
    groups = np.arange(120) // 10
    whole = np.isfinite(quick(rows=55).fit(X2, Y2, groups=groups).oof_predict_proba_[:, 0]).reshape(12, 10)
    assert (whole.all(axis=1) == whole.any(axis=1)).all()
    assert whole.sum() == 60
    splits = list(StratifiedKFold(3).split(X2, Y2))
    assert np.isfinite(quick(rows=60, cv=splits).fit(X2, Y2).predict_proba(X2)).all()
    for name, value in {"_MANY_ROWS": 90, "_GRID_ROWS": 70}.items():
        monkeypatch.setattr(training_rows, name, value)
    monkeypatch.setattr(base, "_MOST_ROWS", 100)
    model = quick(budget=4).fit(X2, Y2)
    assert (np.isfinite(model.oof_predict_proba_[:, 0]).sum(), model.n_rows_) == (70, 100)
    assert len(model.members_) <= 5
    assert model.members_["weight"].sum() == pytest.approx(1)
    assert model.score(X2_NEW, Y2_NEW) > 0.85
    regression = TunedSVR(budget=1, random_state=0).fit(X2, X2[:, 0])
    assert regression.n_rows_ == 100
