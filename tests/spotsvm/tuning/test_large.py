import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from spotsvm.common.errors import RefitTimeoutError
from spotsvm.trials.scores.metrics import ScoreUnit
from spotsvm.tuning import large
from spotsvm.tuning.large import Limits, fit_on_more_rows, next_size
from spotsvm.tuning.tables.table import Table


def table(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=list("ab"))
    return Table(X, pd.Series(np.where(X["a"] * X["b"] > 0, "x", "y"), name="y"), "classification")


def test_small_tables_are_whole():
    limits, whole = Limits(whole=1000, sampled=100), table(800)
    assert limits.test_share(1000) == 0.25
    assert limits.sample_of(table(750), 5, 0).y.size == 750
    assert limits.sample_of(whole, 5, 0).y.size == 100
    assert Limits().test_share(50_000) == 0.1


def fitted(whole, n):
    return SVC().fit(whole.X[:n], whole.y[:n])


def test_fits_grow_to_all_rows_where_there_is_time():
    whole, said = table(1000), []
    found = fit_on_more_rows(fitted(whole, 50), whole, 50, 60.0, 3, 0, said.append)
    assert [n for n, _ in found.fits] == [50, 100, 200, 400, 1000]
    assert found.estimator.shape_fit_ == (1000, 2)
    assert len(said) == 4
    assert "on all 1000 training rows" in found.finding(0.9, 0.01, 0.8, 100, ScoreUnit("accuracy"))["sentence"]


def test_fits_end_with_the_time(monkeypatch):
    """A clock that goes by the rows that are fitted, with the square of their number."""
    clock = [0.0]
    monkeypatch.setattr(large, "monotonic", lambda: clock[0])

    class Slow(SVC):
        def fit(self, X, y):
            clock[0] += (len(y) / 100) ** 2
            return super().fit(X, y)

    whole = table(2000)
    machine = Slow().fit(whole.X[:50], whole.y[:50])
    began = clock[0]
    monkeypatch.setattr(large, "_LONG", 1e9)
    found = fit_on_more_rows(machine, whole, 50, 100.0, 3, 0)
    assert clock[0] - began <= 100.0
    assert 600 < found.n_rows < 1000
    assert found.estimator.shape_fit_[0] == found.n_rows
    assert "as there was no time for more" in found.finding(0.9, 0.01, 0.8, 100, ScoreUnit("accuracy"))["sentence"]


def test_a_fit_that_takes_too_long_is_given_up(monkeypatch):
    def refitted(estimator, X, y, params, seconds):
        if seconds is not None:
            raise RefitTimeoutError("too long")
        return estimator.fit(X, y)

    monkeypatch.setattr(large, "refitted", refitted)
    monkeypatch.setattr(large, "_LONG", -1.0)
    whole, said = table(1000), []
    first = fitted(whole, 50)
    found = fit_on_more_rows(first, whole, 50, 60.0, 3, 0, said.append)
    assert found.estimator is first
    assert found.n_rows == 50
    assert said[-1] == "the fit on 100 rows took longer than the time left; the machine of 50 rows is kept"
    sentence = found.finding(0.9, 0.01, 0.9, 100, ScoreUnit("accuracy"))["sentence"]
    assert sentence.startswith("The machine was tuned and fitted on 50 of 1000")


@pytest.mark.parametrize("left", [0.0, -5.0])
def test_without_time_nothing_more_is_fitted(left):
    assert next_size([(50, 0.001)], 1000, left) is None
