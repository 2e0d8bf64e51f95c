import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from spotsvm import PLSScores
from spotsvm.errors import ArgumentError

DIABETES = load_diabetes(return_X_y=True)
WINE = load_wine(return_X_y=True)


def test_least_squares_on_the_scores_is_partial_least_squares():
    X, y = DIABETES
    ours = make_pipeline(PLSScores(4), LinearRegression()).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), PLSRegression(4).fit(X, y).predict(X).ravel())


def test_the_scores_of_classes_are_those_of_their_indicators():
    X, y = WINE
    found = PLSScores(3, task="classification").fit(X, y)
    theirs = PLSRegression(3).fit(X, np.eye(3)[y]).transform(X)
    np.testing.assert_allclose(found.transform(X) * found.scale_, theirs)
    np.testing.assert_allclose(found.transform(X).var(axis=0).mean(), 1.0)
    assert found.get_feature_names_out().tolist() == ["plsscores0", "plsscores1", "plsscores2"]


def test_classes_of_text():
    X, y = WINE
    named = np.array(["red", "white", "rose"])[y]
    with pytest.raises(ArgumentError, match='y has .*red.*, which is no number; use task="classification"'):
        PLSScores(3).fit(X, named)
    found = [PLSScores(3, task="classification").fit(X, labels).transform(X) for labels in (named, np.array([0, 2, 1])[y])]
    np.testing.assert_allclose(*found)


@pytest.mark.parametrize(("rows", "columns", "most"), [(5, 10, 4), (50, 3, 3)])
def test_no_more_scores_than_can_be_computed(rows, columns, most):
    X, y = DIABETES
    found = PLSScores(20).fit(X[:rows, :columns], y[:rows])
    assert found.transform(X[:, :columns]).shape == (len(X), found.n_components_)
    assert found.n_components_ <= most


def test_a_target_that_the_first_scores_explain_in_full():
    X = np.random.default_rng(0).normal(size=(20, 1)) * [1.0, 2.0, 3.0]
    found = PLSScores(3).fit(X, X[:, 0])
    assert found.n_components_ == 1
    assert np.isfinite(found.transform(X)).all()
    assert np.isfinite(PLSScores(3).fit(X, np.full(20, 2.0)).transform(X)).all()
    assert np.isfinite(PLSScores(3).fit(np.ones((20, 3)), X[:, 0]).transform(np.ones((2, 3)))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": 0}, "n_components=0; use a whole number, 1 or more"),
        ({"task": "both"}, "task='both'; use 'regression' or 'classification'"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        PLSScores(**arguments).fit(*DIABETES)
