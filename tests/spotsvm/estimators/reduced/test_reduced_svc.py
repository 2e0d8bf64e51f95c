import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics import accuracy_score, f1_score, fbeta_score, get_scorer, make_scorer
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import ExactSVC, ReducedSVC
from spotsvm.errors import ArgumentError, SolverError

X, Y = make_moons(n_samples=300, noise=0.2, random_state=0)
X_NEW, Y_NEW = make_moons(n_samples=500, noise=0.2, random_state=1)
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
METHODS = ["alga", "gasvm", "ga-model", "grid", "nsga2", "random"]


def machine(**options):
    return ReducedSVC(**{"n_per_class": 8, "n_trials": 150, "random_state": 0, **options})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [(X, Y), (WINE, CULTIVAR)], ids=["two", "three"])
def test_what_a_fit_says_of_itself(method, data):
    rows, y = data
    n_classes = len(np.unique(y))
    ours = machine(method=method).fit(rows, y)
    training = ours.training_indices_
    assert len(np.unique(training)) == len(training)
    if method not in ("ga-model", "grid"):
        assert np.unique(y[training], return_counts=True)[1].tolist() == [8] * n_classes
    assert set(ours.support_) <= set(training)
    np.testing.assert_array_equal(ours.support_vectors_, rows[ours.support_])
    assert ours.n_support_.sum() == len(ours.support_)
    assert ours.dual_coef_.shape == (n_classes - 1, len(ours.support_))
    assert 0 < ours.n_evaluations_ == ours.history_["n_evaluations"].iloc[-1]
    plain = SVC(C=ours.C_, gamma=ours.gamma_, break_ties=True).fit(rows[training], y[training])
    np.testing.assert_allclose(ours.decision_function(rows), plain.decision_function(rows), atol=2e-2 * max(1.0, ours.C_ / 100))
    assert (ours.predict(rows) == plain.predict(rows)).mean() > 0.99
    assert ours.validation_score_ == pytest.approx(ours.history_["best"].max(), abs=0.011)
    assert ours.validation_score_ > 0.85


@pytest.mark.parametrize("method", METHODS)
def test_the_front_holds_what_can_be_trained_again(method):
    validation = (X_NEW, Y_NEW)
    ours = machine(method=method, tol=1e-6).fit(X, Y, validation=validation)
    front = ours.front_
    assert list(front) == ["score", "n_support_vectors", "n_training", "n_per_class", "C", "gamma"]
    values = np.column_stack([front["n_support_vectors"], -front["score"]])
    dominated = [((values <= v).all(axis=1) & (values < v).any(axis=1)).any() for v in values]
    assert not any(dominated)
    assert front["score"].max() == pytest.approx(ours.validation_score_, abs=0.003)
    assert len(ours.front_indices_) == len(front)
    for rows, one in zip(ours.front_indices_, front.itertuples(), strict=True):
        again = ExactSVC(C=one.C, gamma=one.gamma, tol=1e-6).fit(X[rows], Y[rows])
        assert accuracy_score(Y_NEW, again.predict(X_NEW)) == pytest.approx(one.score, abs=0.003)
        assert len(again.support_) == one.n_support_vectors
        assert len(rows) == one.n_training == 2 * one.n_per_class


@pytest.mark.parametrize("method", ["alga", "gasvm", "random", "ga-model"])
@pytest.mark.parametrize("data", [(X, Y), (WINE, CULTIVAR)], ids=["two", "three"])
def test_all_rows_selected_is_the_plain_fit(method, data):
    rows, y = data
    size = np.bincount(y).min()
    balanced = np.concatenate([np.flatnonzero(y == c)[:size] for c in np.unique(y)])
    rows, y = rows[balanced], y[balanced]
    ours = machine(method=method, n_per_class=int(size), C=3.0, gamma=0.5, tol=1e-8).fit(rows, y, validation=(rows[::2], y[::2]))
    plain = ExactSVC(C=3.0, gamma=0.5, tol=1e-8, break_ties=True).fit(rows, y)
    np.testing.assert_array_equal(ours.training_indices_, np.arange(len(y)))
    np.testing.assert_array_equal(ours.support_, plain.support_)
    new = X_NEW @ np.ones((2, rows.shape[1]))
    np.testing.assert_allclose(ours.decision_function(new), plain.decision_function(new), atol=1e-6)
    assert ours.n_evaluations_ == 1
    assert ours.validation_score_ == plain.score(rows[::2], y[::2])


@pytest.mark.parametrize("crossover", ["rows", "vectors"])
def test_alga_alternates_and_stops_by_itself(crossover):
    ours = machine(n_trials=None, crossover=crossover).fit(X, Y)
    history = ours.history_
    kinds = history.groupby("phase")["kind"].unique().map(lambda found: found.item()).tolist()
    assert kinds == (["training set"] + ["model", "training set"] * len(kinds))[: len(kinds)]
    assert history["best"].is_monotonic_increasing
    if crossover == "vectors":  # the models have their turn before the sets stop improving
        assert history[history["kind"] == "training set"].groupby("phase").size().max() <= 21
        return
    assert ours.stopped_by_ == "no improvement"
    ends = history.groupby("phase")["mean"].apply(list).iloc[1:-1]
    assert all(means[-1] == means[-2] == means[-3] for means in ends)
    assert ours.score(X_NEW, Y_NEW) > 0.93


def test_children_that_inherit_support_vectors_find_a_chessboard():
    # 4 x 4 squares: with K = 12 the paper's crossover misses every sixth row
    rng = np.random.default_rng(0)
    board, new = rng.random((1200, 2)), rng.random((600, 2))
    y, y_new = (np.floor(4 * rows).sum(axis=1) % 2 for rows in (board, new))
    found = {}
    for crossover in ("vectors", "rows"):
        machines = [ReducedSVC(n_per_class=12, crossover=crossover, n_trials=500, random_state=k) for k in range(2)]
        found[crossover] = np.mean([one.fit(board, y).score(new, y_new) for one in machines])
    assert found["vectors"] > found["rows"] + 0.02


def test_the_grid_of_gasvm_is_of_the_whole_training_part():
    ours = machine(method="gasvm", C="grid", gamma=None, n_trials=None).fit(X, Y, validation=(X_NEW, Y_NEW))
    scores = {
        (C, gamma): SVC(C=C, gamma=gamma).fit(X, Y).score(X_NEW, Y_NEW)
        for C in (0.1, 1.0, 10.0, 100.0)
        for gamma in (0.01, 0.1, 1.0, 10.0, 100.0)
    }
    assert scores[ours.C_, ours.gamma_] >= max(scores.values()) - 0.002
    grid = ours.history_.iloc[0]
    assert (grid["kind"], grid["n_evaluations"], grid["n_per_class"]) == ("grid", 20, 150)
    assert grid["mean"] == pytest.approx(np.mean(list(scores.values())), abs=0.002)
    assert len(ours.training_indices_) == 16
    assert set(ours.front_["n_per_class"]) == {8.0}


def test_the_grid_search_trains_all_rows_on_both_grids():
    ours = ReducedSVC(method="grid", tol=1e-6).fit(X, Y, validation=(X_NEW, Y_NEW))

    def scored(C, gamma):
        plain = ExactSVC(C=C, gamma=gamma, tol=1e-6).fit(X, Y)
        return plain.score(X_NEW, Y_NEW), -len(plain.support_)

    coarse = {(C, gamma): scored(C, gamma) for C in (0.1, 1.0, 10.0, 100.0) for gamma in (0.01, 0.1, 1.0, 10.0, 100.0)}
    C, gamma = max(coarse, key=coarse.get)
    steps = 2.0 ** np.arange(-3, 4)
    finer = {(C * up, gamma * right): scored(C * up, gamma * right) for up in steps for right in steps}
    assert scored(ours.C_, ours.gamma_) == max((coarse | finer).values())
    assert ours.history_["kind"].tolist() == ["grid", "grid"]
    assert (ours.n_evaluations_, len(ours.training_indices_)) == (20 + 48, len(Y))
    fixed = ReducedSVC(method="grid", gamma=2.0).fit(X, Y, validation=(X_NEW, Y_NEW))
    assert (fixed.gamma_, fixed.n_evaluations_) == (2.0, 4 + 6)


def polynomial(a, b):
    return (0.5 * a @ b.T + 1.0) ** 3


@pytest.mark.parametrize(
    "options",
    [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "laplacian"}, {"kernel": polynomial}],
    ids=["linear", "poly", "laplacian", "callable"],
)
@pytest.mark.parametrize("data", [(X, Y), (WINE, CULTIVAR)], ids=["two", "three"])
@pytest.mark.parametrize("cache_size", [200, 0.01], ids=["exact", "libsvm"])
def test_any_kernel_is_that_of_the_machine(options, data, cache_size):
    rows, y = data
    ours = machine(cache_size=cache_size, tol=1e-6, crossover="vectors", n_trials=150, **options).fit(rows, y)
    has_gamma = isinstance(ours.kernel, str) and ours.kernel != "linear"
    assert has_gamma == (ours.front_["gamma"].nunique() > 1 or ours.gamma_ != 1.0)
    training = ours.training_indices_
    plain = ExactSVC(C=ours.C_, gamma=ours.gamma_, tol=1e-6, break_ties=True, **options).fit(rows[training], y[training])
    np.testing.assert_allclose(ours.decision_function(rows), plain.decision_function(rows), atol=2e-2 * max(1.0, ours.C_ / 10))
    assert ours.validation_score_ == pytest.approx(ours.history_["best"].max(), abs=0.011)
    assert ours.validation_score_ > 0.8


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1", "roc_auc", make_scorer(fbeta_score, beta=3.0)])
def test_the_scorer_chooses_and_scores(scoring):
    rare = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:30]])
    rows, y = X[rare], Y[rare]
    ours = machine(scoring=scoring, ties="any").fit(rows, y, validation=(X_NEW, Y_NEW))
    scorer = get_scorer(scoring)
    assert ours.validation_score_ == pytest.approx(scorer(ours, X_NEW, Y_NEW))
    assert ours.score(X_NEW, Y_NEW) == scorer(ours, X_NEW, Y_NEW)
    assert ours.front_["score"].max() == pytest.approx(ours.validation_score_, abs=0.01)
    best = ours.front_indices_[-1]
    again = ExactSVC(C=ours.front_["C"].iloc[-1], gamma=ours.front_["gamma"].iloc[-1]).fit(rows[best], y[best])
    assert ours.front_["score"].iloc[-1] == pytest.approx(scorer(again, X_NEW, Y_NEW), abs=0.01)


def test_a_score_of_three_named_classes():
    names = np.array(["a", "b", "c"])[CULTIVAR]
    ours = machine(scoring="f1_macro").fit(WINE, names)
    assert 0.8 < ours.validation_score_ <= 1.0
    assert ours.score(WINE, names) == f1_score(names, ours.predict(WINE), average="macro")
    weights = np.arange(len(names))
    assert ours.score(WINE, names, weights) == f1_score(names, ours.predict(WINE), average="macro", sample_weight=weights)


def test_nsga2_finds_a_front_of_sizes():
    ours = machine(method="nsga2", n_per_class="grow", n_trials=600).fit(X, Y, validation=(X_NEW, Y_NEW))
    assert ours.front_["n_per_class"].nunique() > 1
    assert len(ours.front_) > 3
    assert ours.front_["n_support_vectors"].iloc[0] == 2
    assert ours.front_["score"].iloc[-1] > 0.95
    assert ours.stopped_by_ == "budget"


def test_the_memory_granted_changes_no_choice():
    plenty = machine(n_per_class=20).fit(X, Y)
    little = machine(n_per_class=20, cache_size=0.04).fit(X, Y)  # room for 104 of 200 columns
    pd.testing.assert_frame_equal(plenty.history_, little.history_)


def test_a_training_set_too_large_for_its_matrix_is_left_to_libsvm():
    libsvm = machine(method="ga-model", cache_size=0.2, n_trials=20, tol=1e-6).fit(X, Y)
    ours = machine(method="ga-model", n_trials=20, tol=1e-6).fit(X, Y)
    assert type(libsvm.machine_) is SVC
    assert isinstance(ours.machine_, ExactSVC)
    np.testing.assert_allclose(libsvm.history_["best"], ours.history_["best"], atol=0.011)
    assert libsvm.score(X_NEW, Y_NEW) == pytest.approx(ours.score(X_NEW, Y_NEW), abs=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_where_the_threshold_is_open_the_machine_is_the_one_that_was_judged(seed):
    # equal rows of both classes and a small C: nearly all variables are at their bounds
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, size=(240, 2)).astype(float)
    y = (rows[:, 0] + rng.normal(0, 1.5, 240) > 1.0).astype(int)
    ours = machine(C=0.05, gamma=0.1, crossover="rows", n_trials=60, random_state=seed).fit(rows, y)
    assert ours.validation_score_ == ours.history_["best"].max()


LARGE = """
import resource
import numpy as np
from spotsvm import ReducedSVC
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 20))
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
machine = ReducedSVC(n_per_class=32, n_trials=30, random_state=0).fit(X, y)
print(machine.n_evaluations_, machine.score(X[:1000], y[:1000]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is the system's own")
def test_the_memory_of_a_hundred_thousand_rows():
    told = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) >= 30
    assert float(told[1]) > 0.6
    assert int(told[2]) < 2 * 1024**2  # kilobytes


FEW, FEW_Y = make_moons(n_samples=60, noise=0.2, random_state=0)
LONE = np.where(np.arange(60) == 7, 2, FEW_Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "aga"}, "method='aga'; use 'alga', 'gasvm', 'ga-model', 'grid', 'nsga2' or 'random'"),
        ({"crossover": "all"}, "crossover='all'; use 'auto', 'vectors' or 'rows'"),
        ({"n_per_class": 21}, "n_per_class=21; class 0 has 20 rows that are left for training; use at most as many"),
        ({"n_per_class": 0}, "n_per_class=0; use a whole number, 1 or more, or 'grow'"),
        ({"n_per_class": True}, "n_per_class=True"),
        ({"n_per_class": -3, "method": "ga-model"}, "n_per_class=-3; use a whole number, 1 or more, or 'grow'"),
        ({"n_per_class": 4, "max_per_class": 0}, "max_per_class=0; use a whole number, 1 or more, or None"),
        ({"n_per_class": "grow", "method": "random"}, "n_per_class='grow' with method='random'"),
        ({"max_per_class": 100}, "max_per_class=100; class 0 has 20 rows"),
        ({"C": 0}, "C=0; use a positive, finite number, 'grid' or None"),
        ({"C": "grid"}, "C='grid' with method='alga', which evolves models"),
        ({"gamma": 0.0}, "gamma=0.0; use a positive, finite number, 'scale', 'auto', 'grid' or None"),
        ({"gamma": "grid", "method": "nsga2"}, "gamma='grid' with method='nsga2'"),
        ({"C_values": ()}, r"C_values=\(\); use one positive number or more"),
        ({"gamma_values": (1.0, -2.0)}, r"gamma_values\[1\]=-2.0"),
        ({"gamma_values": (1e-30,)}, r"gamma_values\[0\]=1e-30 is not from 1e-12 to 1e\+12; scale the data"),
        ({"population_size": 1}, "population_size=1; use a whole number, 2 or more, because parents"),
        ({"mutation_probability": 1.1}, r"mutation_probability=1.1 is not in \[0, 1\]"),
        ({"model_crossover_probability": "often"}, "model_crossover_probability='often'"),
        ({"model_mutation_range": 1.0}, r"^model_mutation_range=1.0 is not in \[0, 1\)"),
        ({"kernel": "gauss"}, "kernel='gauss' is not known; use one of 'linear'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' gives no rows to reduce"),
        ({"scoring": "balanced"}, "scoring='balanced'; use the name of a scorer.*did you mean 'balanced_accuracy'"),
        ({"scoring": 3}, "scoring=3; use the name of a scorer"),
        ({"scoring": "neg_log_loss"}, "scoring='neg_log_loss' needs predict_proba, which the SVMs do not have"),
        ({"n_trials": 0}, "n_trials=0; use a whole number, 1 or more, or None"),
        ({"ties": "none"}, "ties='none'; use 'any' or 'fewer vectors'"),
        ({"tol": 0}, "tol=0"),
        ({"decision_function_shape": "one"}, "decision_function_shape='one'"),
        ({"validation": 0}, r"validation=0; use a fraction in \(0, 1\), or a pair \(X, y\)"),
        ({"validation": None}, "validation is a NoneType; use a pair"),
        ({"validation": (FEW[:, :1], FEW_Y)}, "validation has X of 1 features; the training data have 2"),
        ({"validation": (FEW, FEW_Y[:5])}, "validation is not a valid pair"),
        ({"validation": (FEW[FEW_Y == 1], FEW_Y[FEW_Y == 1])}, "validation holds no row of class 0"),
        ({"validation": (FEW, LONE)}, "validation holds the class 2, which is not among those of y"),
        ({"validation": (FEW * np.nan, FEW_Y)}, "validation is not a valid pair.*NaN"),
    ],
)
def test_parameters(options, message):
    with pytest.raises((ArgumentError, SolverError), match=message):
        ReducedSVC(**{"n_trials": 20, **options}).fit(FEW, FEW_Y)


def test_a_class_with_one_row():
    with pytest.raises(ArgumentError, match="y holds a single row of class 2"):
        ReducedSVC().fit(FEW, LONE)
    given = ReducedSVC(n_per_class=1, n_trials=20, random_state=0).fit(FEW, LONE, validation=(FEW, LONE))
    assert 7 in given.training_indices_
    with pytest.raises(ArgumentError, match="n_per_class=2; class 2 has 1 row; use at most as many"):
        ReducedSVC(n_per_class=2).fit(FEW, LONE, validation=(FEW, LONE))
    with pytest.raises(ArgumentError, match="n_per_class='grow'; class 2 has a single row, and no set can grow: use 1, or give"):
        ReducedSVC().fit(FEW, LONE, validation=(FEW, LONE))


def test_one_class():
    with pytest.raises(ArgumentError, match="y holds the one class 0.0"):
        ReducedSVC().fit(FEW, np.zeros(60))


def test_data_that_cannot_be_computed_with():
    with pytest.raises(ValueError, match="scale the data"):
        ReducedSVC(n_trials=20).fit(FEW * 1e200, FEW_Y)


def test_data_so_unlike_the_scale_of_the_models_that_none_says_anything():
    with pytest.warns(UserWarning, match="every SVM misclassifies every row of the validation part; scale the data, or set"):
        silent = ReducedSVC(n_per_class=4, n_trials=40, random_state=0).fit(FEW * 1e6, FEW_Y)
    assert silent.history_["best"].max() == 0.0
    # a fixed gamma may be as small as the data need it, also below the bounds of one that evolves
    for factor in (1e6, 1e9):
        fitted = ReducedSVC(n_per_class=8, n_trials=60, gamma="scale", random_state=0).fit(FEW * factor, FEW_Y)
        assert fitted.score(FEW * factor, FEW_Y) > 0.8
        assert fitted.gamma_ < 1e-11


def test_columns_of_the_validation_part_in_another_order():
    table = pd.DataFrame(FEW, columns=["east", "north"])
    machine = ReducedSVC(n_per_class=4, n_trials=20, random_state=0)
    with pytest.raises(ArgumentError, match=r"columns \['north', 'east'\]; the training data have \['east', 'north'\], in"):
        machine.fit(table, FEW_Y, validation=(table[["north", "east"]], FEW_Y))
    for part in (table, FEW):
        assert machine.fit(table, FEW_Y, validation=(part, FEW_Y)).validation_score_ > 0.6
