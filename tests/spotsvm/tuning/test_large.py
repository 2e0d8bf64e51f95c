import numpy as np
import pandas as pd
from sklearn.svm import SVC

from spotsvm.tables import Limits, Table
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.large import fit_to_more_rows


def table(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=list("ab"))
    return Table(X, pd.Series(np.where(X["a"] * X["b"] > 0, "x", "y"), name="y"), "classification")


def test_small_tables_are_whole():
    limits, whole = Limits(whole=750, sampled=100, fitted=300, many=1000), table(800)
    assert limits.test_share(1000) == 0.25
    assert limits.to_tune(table(750), 5, 0).y.size == 750
    assert limits.to_tune(whole, 5, 0).y.size == 100
    assert limits.to_fit(whole, 5, 0).y.size == 300
    assert Limits().test_share(50_000) == 0.1


def fitted(whole, n):
    return SVC().fit(whole.X[:n], whole.y[:n])


def test_the_machine_is_fitted_to_more_rows():
    whole, said = table(1000), []
    found = fit_to_more_rows(fitted(whole, 50), 50, whole, 1000, None, said.append)
    assert found.estimator.shape_fit_ == (1000, 2)
    assert said == ["fit: the recommended SVM to 1000 of 1000 training rows"]
    assert (
        "fitted to 1000 of 1000 training rows" in found.finding("tuned", 0.9, 0.01, 0.8, 100, ScoreUnit("accuracy"))["sentence"]
    )


def test_a_fit_that_takes_too_long_is_given_up():
    whole, said = table(1000), []
    found = fit_to_more_rows(fitted(whole, 50), 50, whole, 1000, 1e-3, said.append)
    assert (found.estimator, found.n_rows) == (None, 50)
    assert said[-1] == "the fit took longer than the time left; the model fitted to 50 rows is kept"
    sentence = found.finding("tuned", 0.9, 0.01, 0.9, 100, ScoreUnit("accuracy"))["sentence"]
    assert sentence == "The model was tuned on and fitted to 50 of 1000 training rows, as there was no time for more."
