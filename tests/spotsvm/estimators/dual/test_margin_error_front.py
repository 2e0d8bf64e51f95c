import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from spotsvm import MarginErrorFront
from spotsvm.errors import ArgumentError, SpotSVMError
from spotsvm.solvers.pareto import knee, non_dominated

SMALL = {"population_size": 12, "n_generations": 8, "n_exact": 6, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(90, 6, flip_y=0.15, random_state=2)
    return X[:60], y[:60], X[60:], y[60:]


@pytest.mark.parametrize("options", [{}, {"error": "count"}, {"kernel": "sigmoid", "gamma": 0.5, "coef0": -1.0}])
def test_the_front_is_a_front_and_predicts_what_it_says(data, options):
    X, y, _, _ = data
    model = MarginErrorFront(**SMALL, **options).fit(X, y)
    front = model.front_
    assert len(non_dominated(model.objectives_)) == len(front)
    assert model.selected_ == knee(model.objectives_)
    assert "validation_error" not in front
    error = f"{model.error}_error"
    assert np.array_equal(model.objectives_, front[["norm_squared", error]])
    assert front.margin.is_monotonic_decreasing
    assert front[error].is_monotonic_decreasing
    assert front.margin.to_numpy() == pytest.approx(1 / np.sqrt(front.norm_squared))
    for index in (0, model.selected_, -1):
        point = model.classifier_at(index)
        margins = np.where(y == 1, 1, -1) * point.decision_function(X)
        assert np.maximum(1 - margins, 0).mean() == pytest.approx(front.hinge_error.iloc[index], abs=1e-9)
        assert (margins < 1 - 1e-6).mean() <= front.count_error.iloc[index] + 1e-12
        assert (point.predict(X) != y).mean() == pytest.approx(front.misclassified.iloc[index])
        assert len(point.support_) == front.n_support.iloc[index]


@pytest.mark.parametrize("error", ["hinge", "count"])
def test_exact_solutions_are_on_the_front_or_bettered(data, error):
    X, y, _, _ = data
    model = MarginErrorFront(error=error, **SMALL).fit(X, y)
    for _, point in model.exact_front_.iterrows():
        better = model.objectives_ <= np.array([point.norm_squared, point[f"{error}_error"]]) * (1 + 1e-12)
        assert better.all(axis=1).any()
    assert set(model.front_.source) <= {"exact", "scaled", "evolved", "re-solved"}
    exact = model.front_[model.front_.source == "exact"]
    # by "hinge" nothing betters an exact solution; by "count" wider margins at the same count may better all of them
    assert len(exact) or error == "count"
    assert exact.C.notna().all()
    assert len(model.exact_front_)
    assert model.exact_front_.C.notna().all()
    assert model.front_.C[model.front_.source == "evolved"].isna().all()
    only_exact = MarginErrorFront(**{**SMALL, "n_generations": 0, "error": error}).fit(X, y)
    pd.testing.assert_frame_equal(only_exact.front_, model.exact_front_)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_by_validation_the_smallest_error_on_held_out_rows_is_chosen(data, kernel):
    X, y, _, _ = data
    X = rbf_kernel(X, gamma=0.1) if kernel == "precomputed" else X
    model = MarginErrorFront(kernel=kernel, select="validation", validation_fraction=0.25, **SMALL).fit(X, y)
    held_out = np.setdiff1d(np.arange(60), model.training_indices_)
    assert len(held_out) == 15
    assert abs(y[held_out].mean() - y.mean()) < 0.05
    errors = [(model.classifier_at(i).predict(X[held_out]) != y[held_out]).mean() for i in range(len(model.front_))]
    assert model.front_.validation_error.to_numpy() == pytest.approx(np.array(errors))
    assert model.selected_ == int(np.argmin(errors))
    assert set(model.support_) <= set(model.training_indices_)


def test_predictions_touch_support_vectors_only(data):
    X, y, X_new, _ = data
    seen = []

    def kernel(A, B):
        seen.append((A, B))
        return rbf_kernel(A, B, gamma=0.2)

    model = MarginErrorFront(kernel=kernel, **SMALL).fit(X, y)
    model = model.classifier_at(int(model.front_.n_support.argmin()))
    assert 0 < len(model.support_) < 60
    del seen[:]
    decision = model.decision_function(X_new)
    assert [B.tolist() for _, B in seen] == [X[model.support_].tolist()]
    K = rbf_kernel(X_new, X[model.support_], gamma=0.2)
    assert decision == pytest.approx(K @ model.dual_coef_[0] + model.intercept_[0])


def test_any_point_can_be_had_and_the_others_stay(data):
    X, y, _, _ = data
    model = MarginErrorFront(**SMALL).fit(X, y)
    before = model.decision_function(X)
    last = model.classifier_at(-1)
    assert last.selected_ == len(model.front_) - 1
    assert not np.array_equal(last.decision_function(X), before)
    assert np.array_equal(model.decision_function(X), before)
    assert np.array_equal(pickle.loads(pickle.dumps(last)).predict(X), last.predict(X))
    for wrong in (len(model.front_), -len(model.front_) - 1, 1.0, "knee"):
        with pytest.raises(ArgumentError, match="is not a point of the front; use an integer from 0 to"):
            model.classifier_at(wrong)


def test_the_picture_names_what_it_shows(data):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    X, y, _, _ = data
    model = MarginErrorFront(error="count", **SMALL).fit(X, y)
    ax = model.plot()
    assert ax.get_xlabel().startswith("margin")
    assert ax.get_ylabel() == "training error (share of rows short of the margin)"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [f"front ({len(model.front_)} points)", "exact solutions along C, at all scales", "in use: knee"]
    star = ax.get_lines()[-1]
    assert star.get_xydata()[0] == pytest.approx(model.front_[["margin", "count_error"]].iloc[model.selected_])
    other = pyplot.subplots()[1]
    assert model.plot(other) is other
    pyplot.close("all")


def test_on_real_data_evolution_widens_the_margin_at_the_same_count():
    X, y = load_wine(return_X_y=True)
    model = MarginErrorFront(error="count", n_generations=40, random_state=0).fit(StandardScaler().fit_transform(X), y == 1)
    for share in (0.05, 0.1, 0.2):
        widest = [t.margin[t.count_error <= share].max() for t in (model.front_, model.exact_front_)]
        assert widest[0] > 1.02 * widest[1]


@pytest.mark.parametrize("error", ["hinge", "count"])
@pytest.mark.parametrize("bias", [True, False])
def test_data_that_leave_nothing_to_learn(error, bias):
    options = {**SMALL, "error": error, "bias": bias}
    nothing = MarginErrorFront(kernel="linear", **options).fit(np.zeros((6, 2)), [0, 0, 1, 1, 1, 1])
    assert len(nothing.front_) == 1
    assert np.isinf(nothing.front_.margin[0])
    assert set(nothing.predict(np.ones((3, 2)))) == {1 if bias else 0}
    assert nothing.front_.misclassified[0] == pytest.approx(1 / 3 if bias else 2 / 3)
    nothing.plot()
    matplotlib.pyplot.close("all")
    contradiction = MarginErrorFront(**options).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert contradiction.front_.misclassified.tolist() == [0.5]
    assert contradiction.score([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1]) == 0.5
    alike = MarginErrorFront(**options).fit(np.ones((10, 3)), [0, 1] * 5)
    assert alike.front_.misclassified.tolist() == [0.5]
    assert alike.score(np.ones((10, 3)), [0, 1] * 5) == 0.5
    pair = MarginErrorFront(kernel="linear", **options).fit([[-1.0], [1.0]], ["a", "b"])
    assert pair.classifier_at(-1).predict([[-2.0], [2.0]]).tolist() == ["a", "b"]


def test_no_point_is_worse_than_the_constant_function():
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(9, 1, (10, 2)), random.normal(-9, 1, (10, 2))])
    y = np.repeat([1, 0], 10)
    far = MarginErrorFront(kernel="multiquadric", coef0=1.0, **SMALL).fit(X, y)
    assert far.front_.hinge_error.max() < 1.0 or np.isinf(far.front_.margin).all()
    assert far.score(X, y) >= 0.5
    for error in ("hinge", "count"):
        uneven = MarginErrorFront(error=error, **SMALL).fit(X, np.arange(20) < 4)
        assert uneven.front_[f"{error}_error"].max() < (0.4 if error == "hinge" else 0.2)


@pytest.mark.parametrize("scale", [1e-100, 1e-160, 1e100])
def test_a_kernel_too_small_or_large_for_floats_is_refused(data, scale):
    X, y, _, _ = data
    with pytest.raises(SpotSVMError, match=r"K holds .* scale the kernel"):
        MarginErrorFront(kernel="linear", **SMALL).fit(scale * X, y)


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e-69, 1e60])
def test_a_badly_scaled_kernel_is_no_obstacle(data, scale):
    X, y, _, _ = data
    model, scaled = (MarginErrorFront(kernel="linear", **SMALL).fit(s * X, y) for s in (1.0, scale))
    assert scaled.front_.misclassified.min() == pytest.approx(model.front_.misclassified.min(), abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparse": 1}, "sparse=1; use True or False"),
        ({"decision_function_shape": "one"}, "decision_function_shape='one'; use 'ovr' or 'ovo'"),
        ({"error": "zero-one"}, "error='zero-one'; use 'hinge' or 'count'"),
        ({"select": "best"}, "select='best'; use 'knee' or 'validation'"),
        ({"population_size": 2}, "population_size=2; use a whole number, 4 or more"),
        ({"n_generations": -1}, "n_generations=-1; use a whole number, 0 or more"),
        ({"n_exact": 1.5}, "n_exact=1.5; use a whole number, 2 or more"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0; use a number between 0 and 1"),
        ({"tol": 0.0}, "tol=0.0; use a positive, finite number"),
        ({"kernel": "gauss"}, "kernel='gauss' is not known"),
        ({"gamma": "wide"}, "gamma='wide'"),
        ({"kernel": "precomputed"}, r"kernel='precomputed' and X has shape \(60, 6\)"),
        ({"bias": "yes"}, "bias='yes'; use True or False"),
    ],
)
def test_bad_parameters(data, options, message):
    X, y, _, _ = data
    with pytest.raises(SpotSVMError, match=message):
        MarginErrorFront(**{**SMALL, **options}).fit(X, y)


def test_bad_data(data):
    X, y, _, _ = data
    with pytest.raises(ArgumentError, match="y has only one class, 0; two classes are needed"):
        MarginErrorFront(**SMALL).fit(X, np.zeros(60, int))
    with pytest.raises(ArgumentError, match="validation_fraction=0.2 of 3 rows leaves no row of some class on one side"):
        MarginErrorFront(select="validation", **SMALL).fit(X[:3], [0, 1, 1])
    with pytest.raises(SpotSVMError, match="not symmetric"):
        MarginErrorFront(kernel="precomputed", **SMALL).fit(np.triu(np.ones((4, 4))), [0, 1, 0, 1])


def test_the_number_of_support_vectors_may_be_a_third_criterion(data):
    X, y, _, _ = data
    plain, ours = (MarginErrorFront(sparse=sparse, **SMALL | {"n_generations": 40}).fit(X, y) for sparse in (False, True))
    front = ours.front_
    np.testing.assert_array_equal(ours.objectives_, front[["norm_squared", "hinge_error", "n_support"]])
    assert len(non_dominated(ours.objectives_)) == len(front)
    assert ours.selected_ == knee(ours.objectives_)
    assert len(front) > len(plain.front_)
    assert front.margin.is_monotonic_decreasing
    # no exact solution is lost, and there are points with fewer support vectors than those of two criteria
    for _, point in ours.exact_front_.iterrows():
        better = ours.objectives_ <= np.array([point.norm_squared, point.hinge_error, point.n_support]) * (1 + 1e-12)
        assert better.all(axis=1).any()
    assert front.n_support.min() < plain.front_.n_support.min()
    few = ours.classifier_at(int(front.n_support.argmin()))
    assert len(few.support_) == front.n_support.min()
    matplotlib.use("Agg")
    ax = ours.plot()
    assert [axes.get_ylabel() for axes in ax.figure.axes] == ["training error (mean hinge slack)", "support vectors"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_several_classes_have_a_front_for_each_pair(wine, kernel):
    rows, y = wine
    K = rbf_kernel(rows, gamma=0.05) if kernel == "precomputed" else rows
    model = MarginErrorFront(kernel=kernel, gamma=0.05, **SMALL).fit(K, y)
    votes = np.zeros((len(y), 3))
    for one, (i, j) in zip(model.pairs_, [(0, 1), (0, 2), (1, 2)], strict=True):
        of_pair = np.flatnonzero(np.isin(y, model.classes_[[i, j]]))
        assert one.classes_.tolist() == model.classes_[[i, j]].tolist()
        part = K[np.ix_(of_pair, of_pair)] if kernel == "precomputed" else K[of_pair]
        assert (one.predict(part) == y[of_pair]).mean() > 0.95
        won = one.predict(K[:, of_pair] if kernel == "precomputed" else K) == model.classes_[j]
        votes[:, j] += won
        votes[:, i] += ~won
        shown = model.front_[(model.front_.negative == model.classes_[i]) & (model.front_.positive == model.classes_[j])]
        pd.testing.assert_frame_equal(shown[list(one.front_)].reset_index(drop=True), one.front_)
        assert shown["point"].tolist() == list(range(len(shown)))
    clear = votes.max(axis=1) == 2
    np.testing.assert_array_equal(model.predict(K)[clear], model.classes_[votes.argmax(axis=1)][clear])
    assert model.score(K, y) > 0.95
    assert model.decision_function(K).shape == (len(y), 3)
    ovo = MarginErrorFront(kernel=kernel, gamma=0.05, decision_function_shape="ovo", **SMALL).fit(K, y).decision_function(K)
    of_pair = np.isin(y, ["a", "b"])
    assert ((ovo[of_pair, 0] > 0) == (y[of_pair] == "a")).mean() > 0.95


def test_several_classes_have_points_for_each_pair(wine):
    model = MarginErrorFront(**SMALL).fit(*wine)
    widest = model.classifier_at([0, 0, 0])
    assert [one.selected_ for one in widest.pairs_] == [0, 0, 0]
    assert [one.selected_ for one in model.pairs_] != [0, 0, 0]
    assert not np.array_equal(widest.decision_function(wine[0]), model.decision_function(wine[0]))
    for wrong in (0, [0, 0], "abc"):
        with pytest.raises(ArgumentError, match="of 3 classes use a sequence of 3 points, one for each pair"):
            model.classifier_at(wrong)
    with pytest.raises(ArgumentError, match=r"each pair has a front; use pairs_\[0\].plot"):
        model.plot()
