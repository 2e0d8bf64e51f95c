"""TunedSVC on data of many kinds."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import TunedSVC
from spotsvm.errors import ArgumentError, DataWarning

X2, Y2 = make_moons(120, noise=0.25, random_state=0)
X2_NEW, Y2_NEW = make_moons(2000, noise=0.25, random_state=1)
X3, Y3 = load_iris(return_X_y=True)


def quick(**parameters):
    return TunedSVC(**{"budget": 2, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def moons():
    return TunedSVC(random_state=0).fit(X2, Y2)


@pytest.fixture(scope="module")
def iris():
    return TunedSVC(random_state=0).fit(X3[::2], Y3[::2])


def test_predictions_agree_with_each_other(moons, iris):
    for model, X in ((moons, X2_NEW), (iris, X3)):
        p = model.predict_proba(X)
        assert p.sum(axis=1) == pytest.approx(1)
        assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
        d = model.decision_function(X)
        if d.ndim == 1:
            assert p[:, 1] == pytest.approx(1 / (1 + np.exp(-d)))
        else:
            assert p == pytest.approx(np.exp(d))
        assert model.score(X, (Y2_NEW if model is moons else Y3)) > 0.9


def test_out_of_fold_values_are_those_of_the_rows(moons, iris):
    for model, y in ((moons, Y2), (iris, Y3[::2])):
        p = model.oof_predict_proba_
        assert p.shape == (len(y), len(model.classes_))
        assert (p.argmax(axis=1) == y).mean() > 0.85
        assert len(model.oof_decision_function_) == len(model.average_oof_) == len(y)
    assert ((moons.oof_decision_function_ > 0) == (moons.oof_predict_proba_[:, 1] > 0.5)).all()


def test_the_expected_score_is_that_of_new_rows(moons):
    low, high = moons.expected_score_.interval
    assert low < moons.score(X2_NEW, Y2_NEW) < high
    assert low < moons.expected_score_.value < high
    assert "choice" in moons.expected_score_.covers
    assert {moons.default_score_.covers, moons.constant_score_.covers} == {"the sampling of the rows and the folds"}
    assert moons.constant_score_.value == pytest.approx(0.5, abs=0.1)


def test_intervals_cover_the_score_on_new_rows():
    """Of simulated tables, on which tuning cannot help much: what the data promise by chance is not believed."""
    inside, best, estimate, true = [], [], [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        y, y_new = np.arange(80) % 2, np.arange(2000) % 2
        X, X_new = (rng.normal(size=(len(target), 4)) + 0.4 * target[:, None] for target in (y, y_new))
        model = quick(budget=4).fit(X, y)
        low, high = model.expected_score_.interval
        true.append(model.score(X_new, y_new))
        inside.append(low <= true[-1] <= high)
        best.append(model.settings_["score"].max())
        estimate.append(model.expected_score_.value)
    assert np.mean(inside) >= 0.88
    assert np.mean(estimate) == pytest.approx(np.mean(true), abs=0.025)
    assert np.mean(best) > np.mean(true) + 0.03


def test_the_default_is_that_of_scikit_learn(moons):
    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    theirs = cross_val_score(make_pipeline(StandardScaler(), SVC()), X2, Y2, cv=splits).mean()
    assert moons.default_score_.value == pytest.approx(theirs, abs=0.01)


def test_tables_of_settings(moons):
    assert list(moons.members_.columns) == ["family", "width", "C", "weight", "score"]
    assert moons.members_["weight"].sum() == pytest.approx(1)
    assert moons.members_["weight"].is_monotonic_decreasing
    kernels = {"rbf", "laplacian", "relevance_rbf", "relevance_laplacian"}
    assert set(moons.settings_["family"]) == {*kernels, *(f"squared_{name}" for name in kernels), "squared_linear"}
    assert moons.settings_.groupby("family")["width"].nunique()[["rbf", "squared_rbf", "squared_linear"]].tolist() == [1, 3, 0]
    assert len(moons.members_) < len(moons.settings_) <= 85
    best = moons.settings_.iloc[moons.best_index_]
    assert best["score"] == moons.settings_["score"].max()
    assert dict(best[["family", "width", "C"]]) == moons.best_params_


def test_probabilities_are_better_than_those_of_a_constant_by_far(moons):
    assert log_loss(Y2_NEW, moons.predict_proba(X2_NEW)) < 0.25


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_hold_the_class_as_often_as_is_asked_for(moons, coverage):
    sets = moons.predict_set(X2_NEW, coverage, allow_empty=True)
    assert sets.shape == (2000, 2)
    assert sets[np.arange(2000), Y2_NEW].mean() == pytest.approx(coverage, abs=0.06)
    with pytest.raises(ArgumentError, match="coverage=90; use a number between 0 and 1, such as 0.9"):
        moons.predict_set(X2_NEW, 90)


def test_the_verdict():
    helped = quick(budget=None).fit(*make_classification(200, 20, n_informative=2, n_redundant=0, class_sep=1.5, random_state=3))
    rng = np.random.default_rng(0)
    noise = quick().fit(rng.normal(size=(60, 3)), rng.integers(2, size=60))
    assert noise.verdict_.decision == "no difference seen"
    assert "cannot be distinguished from a constant" in noise.verdict_.sentence
    assert helped.verdict_.interval[0] < helped.verdict_.value < helped.verdict_.interval[1]
    assert (helped.verdict_.decision == "helped") == (helped.verdict_.interval[0] > 0)
    assert str(helped.verdict_) == helped.verdict_.sentence


def test_one_model_with_support_vectors():
    model = quick(average=False).fit(X2, Y2)
    assert len(model.members_) == 1
    assert (model.support_vectors_ == X2[model.support_]).all()
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert {k: model.members_.iloc[0][k] for k in model.best_params_} == model.best_params_
    assert model.score(X2_NEW, Y2_NEW) > 0.85
    assert not hasattr(model.set_params(average=True).fit(X2, Y2), "support_")


def test_the_same_seed_gives_the_same_whatever_n_jobs(moons):
    other = pickle.loads(pickle.dumps(clone(moons).set_params(n_jobs=2).fit(X2, Y2)))
    assert (other.predict_proba(X2_NEW) == moons.predict_proba(X2_NEW)).all()
    assert other.expected_score_.interval == moons.expected_score_.interval
    drawn = quick(random_state=None).fit(X2, Y2)
    again = quick(random_state=drawn.seed_).fit(X2, Y2)
    assert (again.predict_proba(X2) == drawn.predict_proba(X2)).all()


def test_strings_as_labels():
    names = np.array(["setosa", "versicolor", "virginica"])
    model = quick().fit(X3, names[Y3])
    assert list(model.classes_) == list(names)
    assert (model.predict(X3) == names[quick().fit(X3, Y3).predict(X3)]).all()


def test_sparse_rows_give_the_model_of_dense_ones():
    X, y = make_classification(100, 12, random_state=0)
    X[np.abs(X) < 0.5] = 0
    dense = quick(families=["rbf", "linear"]).fit(X, y)
    model = quick().fit(sparse.csr_matrix(X), y)
    assert model.decision_function(sparse.csc_matrix(X)) == pytest.approx(dense.decision_function(X), abs=0.05)
    assert model.decision_function(X) == pytest.approx(dense.decision_function(X), abs=0.05)
    assert dense.decision_function(sparse.csr_matrix(X)) == pytest.approx(dense.decision_function(X))
    assert set(model.columns_["treatment"]) == {"kept, zeros as zeros"}
    with pytest.raises(ArgumentError, match="'laplacian' would fill the zeros; use 'rbf' or 'linear'"):
        quick(families=["rbf", "laplacian"]).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ArgumentError, match="fitted on sparse rows"):
        model.predict(np.where(X == 0, np.nan, X))


def test_a_class_that_folds_lack():
    y = Y3.copy()
    y[0], y[1:3] = 3, 4
    model = quick().fit(X3, y)
    p = model.predict_proba(X3)
    assert p.shape == (150, 5)
    assert np.isfinite(p).all()
    assert (model.predict(X3[5:]) == Y3[5:]).mean() > 0.9


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 3, 4]])
@pytest.mark.filterwarnings("ignore:[2-4] folds in place of 5")
def test_tiny_data(labels):
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + np.array(labels)[:, None]
    model = quick(budget=None).fit(X, labels)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.predict_set(X, 0.99).all()  # too few rows to rule anything out


def test_odd_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    signal = rng.normal(size=60) + 3 * y
    wide = np.column_stack([signal, rng.normal(size=(60, 150))])
    for X in (
        signal[:, None],
        np.column_stack([signal, np.full(60, 0.1), np.full(60, -1e9)]),
        wide,
        np.column_stack([signal, signal]),
        np.round(signal)[:, None],
        np.repeat(signal[:20], 3)[:, None] + 0 * y[:, None],
    ):
        model = quick(budget=None).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
    assert quick().fit(wide[:, :3], y).score(wide[:, :3], y) > 0.85
    constant = quick(budget=None).fit(np.ones((60, 2)), y)
    assert len(set(constant.predict(np.ones((5, 2))))) == 1
    assert constant.predict_proba(np.ones((1, 2)))[0] == pytest.approx(np.bincount(y) / 60, abs=0.05)


def test_duplicated_rows():
    model = quick(budget=None).fit(np.repeat(X3, 3, axis=0)[:200], np.repeat(Y3, 3)[:200])
    assert np.isfinite(model.predict_proba(X3)).all()


def test_gaps_and_columns_of_a_table():
    rng = np.random.default_rng(0)
    n = 80
    frame = pd.DataFrame({"size": rng.normal(size=n), "colour": rng.choice(["red", "blue", "green"], n), "same": "x"})
    y = np.where((frame["colour"] == "red") | (frame["size"] > 1), "yes", "no")
    frame.loc[::9, "size"] = np.nan
    with pytest.warns(DataWarning, match="^column 'same' is left out: it has the same value in all rows$"):
        model = quick(budget=4).fit(frame, y)
    assert model.score(frame, y) > 0.85
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.columns_["kind"]) == ["number", "category", "constant"]
    array = rng.normal(size=(60, 2))
    gappy = quick().fit(np.where(array > 1.5, np.nan, array), array[:, 0] > 0)
    assert "gaps are filled with the median" in gappy.columns_["treatment"][0]
    assert gappy.predict([[np.nan, np.nan]]).shape == (1,)


def test_relevance_is_kept_where_a_member_uses_it():
    X = np.random.default_rng(0).normal(size=(150, 8))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1])
    model = quick(families=["relevance_rbf"]).fit(X, y)
    assert set(model.relevance_.nlargest(2).index) == {"x0", "x1"}
    assert not hasattr(quick(families=["rbf"]).fit(X, y), "relevance_")


def test_weights_of_classes_move_the_threshold():
    X, y = make_classification(200, 4, weights=[0.9], class_sep=0.5, random_state=0)
    plain, balanced = quick().fit(X, y), quick(class_weight="balanced").fit(X, y)
    assert balanced.predict(X).sum() > 1.5 * plain.predict(X).sum()
    by_hand = quick(class_weight={0: 200 / (2 * (y == 0).sum()), 1: 200 / (2 * (y == 1).sum())}).fit(X, y)
    assert by_hand.predict_proba(X) == pytest.approx(balanced.predict_proba(X), abs=1e-6)
    with pytest.raises(ArgumentError, match="class_weight='even'; use 'balanced'"):
        quick(class_weight="even").fit(X, y)


def test_rows_of_weight_0_are_not_there():
    weight = np.r_[np.zeros(20), np.ones(100)]
    model, other = quick().fit(X2, Y2, weight), quick().fit(X2[20:], Y2[20:])
    assert (model.predict_proba(X2_NEW) == other.predict_proba(X2_NEW)).all()
    assert np.isnan(model.oof_predict_proba_[:20]).all()
    assert (model.oof_predict_proba_[20:] == other.oof_predict_proba_).all()
    heavy = quick().fit(X2, Y2, np.where(Y2 == 1, 5.0, 1.0))
    assert heavy.predict(X2_NEW).mean() > model.predict(X2_NEW).mean()


def test_groups_are_in_one_fold_and_drawn_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 10)
    place = rng.normal(size=(12, 2))
    y = rng.permutation(np.arange(12) % 2)[groups]
    X = place[groups] + 0.01 * rng.normal(size=(120, 2))  # a group tells its class, but nothing of those of others
    blind, told = quick().fit(X, y), quick().fit(X, y, groups=groups)
    assert blind.expected_score_.value > 0.95
    assert told.expected_score_.value < 0.8
    low, high = told.expected_score_.interval
    assert high - low > 0.2
    same = quick(cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert same.expected_score_.value < 0.8
    with pytest.raises(ArgumentError, match="groups: all rows are in one group"):
        quick().fit(X, y, groups=np.zeros(120))


def test_folds_as_scikit_learn_takes_them():
    model = quick(cv=TimeSeriesSplit(3)).fit(X2, Y2)
    tested = np.arange(120) >= 30
    assert np.isnan(model.oof_predict_proba_[~tested]).all()
    assert np.isfinite(model.oof_predict_proba_[tested]).all()
    splits = list(StratifiedKFold(3).split(X2, Y2))
    assert (quick(cv=splits).fit(X2, Y2).predict_proba(X2) == quick(cv=StratifiedKFold(3)).fit(X2, Y2).predict_proba(X2)).all()


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1", "f1_macro", "roc_auc", "neg_log_loss", "neg_brier_score"])
def test_scores(scoring):
    from sklearn.metrics import get_scorer

    model = quick(scoring=scoring).fit(X2, Y2)
    low, high = model.expected_score_.interval
    assert low <= get_scorer(scoring)(model, X2_NEW, Y2_NEW) <= high
    assert model.constant_score_.value < model.expected_score_.value
    assert model.settings_["score"].idxmax() == model.best_index_
    assert low <= model.settings_["score"].max() <= max(high, model.expected_score_.value + 0.1)


def test_scores_of_several_classes():
    assert quick(scoring="roc_auc_ovr").fit(X3, Y3).expected_score_.value > 0.98
    with pytest.raises(ArgumentError, match="scoring='roc_auc' and 3 classes; use 'roc_auc_ovr'"):
        quick(scoring="roc_auc").fit(X3, Y3)


def test_budget_and_timeout():
    assert set(quick(budget=1).fit(X2, Y2).settings_["family"]) == {"squared_rbf"}
    model = TunedSVC(timeout=1e-6, random_state=0).fit(X2, Y2)
    assert not model.complete_
    assert model.settings_["family"].unique().tolist() == ["squared_rbf"]
    assert model.members_["width"].nunique() == 1
    assert model.score(X2_NEW, Y2_NEW) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"families": "rbf"}, r"families='rbf'; use 'auto' or a list of 'rbf', 'laplacian'"),
        ({"families": ["rfb"]}, r"families='rfb'; use 'rbf'"),
        ({"budget": 0}, r"budget=0; use a whole number, 1 or more, or None for the grid"),
        ({"timeout": -1}, r"timeout=-1; use a positive, finite number, or None for no limit"),
        ({"scoring": "r2"}, r"scoring='r2'; use 'accuracy'"),
        ({"cv": 1}, r"cv=1; use a whole number, 2 or more"),
        ({"rows": "all"}, r"rows='all'; use 'auto', None for all, or a whole number, 2 or more"),
        ({"average": "no"}, r"average='no'; use True or False"),
    ],
)
def test_arguments(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        quick(**parameters).fit(X2, Y2)


def test_targets_and_weights_that_cannot_be_used():
    with pytest.raises(ArgumentError, match="y has one class, 1, in rows with a positive weight"):
        quick().fit(X2, Y2, Y2)
    with pytest.raises(ArgumentError, match="1 rows have a positive weight; use two or more"):
        quick().fit(X2, Y2, 1.0 * (np.arange(120) == 3))
    with pytest.warns(DataWarning, match="^3 folds in place of 5, as no class has more than 3 rows to test on$"):
        quick().fit(X2[:9], np.arange(9) % 4)


def test_it_is_better_than_the_best_setting_alone_in_a_larger_space():
    """A few columns matter and their effect is no ball: the default does badly, relevance and averages do well."""
    X, y = load_breast_cancer(return_X_y=True)
    model = TunedSVC(random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.94
