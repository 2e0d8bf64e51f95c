"""What a fit tells about its data is told once: not by folds, candidates and members, wherever they are fitted."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TableEncoder, TunedSVC, expected_score, oversearching
from spotsvm.errors import DataWarning

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N).round(3)
y = np.where(NUMBERS + 0.3 * RNG.normal(size=N) > 0, "high", "low")
X = pd.DataFrame({"a": ["-", *map(str, NUMBERS[1:])], "b": RNG.normal(size=N), "c": "same"})
PIPELINE = make_pipeline(TableEncoder(), StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(0.1, 10)}
OF_FIT, OF_ROWS = [("unread", "a"), ("constant", "c")], [("unread", "a")]


def search(estimator=PIPELINE, space=SPACE, **arguments):
    return SpotSearchCV(estimator, space, n_iter=1, cv=2, random_state=0, **arguments)


def told_by(call):
    """Return what a call returns, and the code and column of each notice of its only warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    caught = [one for one in caught if one.category is DataWarning]
    assert len(caught) <= 1
    return found, [(notice.code, notice.column) for one in caught for notice in one.message.notices]


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return search().fit(X, y)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"engine": "sklearn", "n_jobs": 2},
        {"refit": "average"},
        {"calibrate": True},
        {"executor": "threading", "n_jobs": 2},
    ],
    ids=str,
)
def test_a_search_and_its_predictions_tell_once(arguments, capfd):
    one = search(**arguments)
    assert told_by(lambda: one.fit(X, y))[1] == OF_FIT
    assert told_by(lambda: one.predict(X))[1] == OF_ROWS
    assert told_by(lambda: one.score(X, y))[1] == OF_ROWS
    assert "DataWarning" not in capfd.readouterr().err  # nor does a worker


@pytest.mark.parametrize(
    ("estimator", "space"), [(PIPELINE, SPACE), (BaggingClassifier(PIPELINE, 2, random_state=0), {"n_estimators": [2]})]
)
def test_a_search_without_a_refit_tells_once(estimator, space):
    told = told_by(lambda: search(estimator, space, refit=False).fit(X, y))[1]
    assert [code for code, _ in told] == ["unread", "constant"]


def test_what_was_told_is_on_the_page_of_the_study(fitted, tmp_path, no_pictures):
    assert [code for code, _ in fitted.study_.findings["notices"]["notices"]] == ["unread", "constant"]
    fitted.study_.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "has a cell that is no number in 1 of 60 rows" in page
    assert "is left out: it has the same value in all rows" in page


def test_estimates_of_luck_tell_nothing(fitted):
    for call in (
        lambda: expected_score(fitted, X, y),
        lambda: oversearching(fitted, X, y, method="folds"),
        lambda: oversearching(fitted, X, y, 2, method="nested"),
    ):
        assert told_by(call)[1] == []


def test_warnings_as_errors_lose_no_search():
    one = search()
    with pytest.raises(DataWarning):
        one.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert one.predict(X).shape == (N,)


def test_the_page_of_a_tuned_model_has_what_its_fit_told(tmp_path, no_pictures):
    model = TunedSVC(budget=1, random_state=0)
    assert told_by(lambda: model.fit(X, y))[1] == OF_FIT
    page = model.report(tmp_path / "report.html").read_text()
    assert "has a cell that is no number in 1 of 60 rows" in page
    assert "left out: it has the same value in all rows" in page
