import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import SpotSearchCV, TunedSVR
from spotsvm.studies.new_rows.coverage import EXPECTED, coverage, coverage_sentences, expected
from spotsvm.studies.new_rows.entrants import ENTRANTS, TUNED, InUnit, Key, run_trial
from spotsvm.studies.new_rows.sets import Split
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION


def fits(scores, interval=(0.6, 0.8), *, of_rows=(0.5, 0.9), name="a", task=REGRESSION, kind="numbers", trait="plain"):
    """Return runs with these scores on new rows and one interval for all."""
    about = {"task": task, "kind": kind, "trait": trait, "set": name, "rows": 300, "entrant": TUNED, "budget": 0}
    values = dict(zip(EXPECTED, (0.7, *interval, *of_rows), strict=True))
    return pd.DataFrame([about | values | {"split": k, "error": 100 * (1 - score)} for k, score in enumerate(scores)])


def test_scores_in_below_and_above_the_interval_are_counted():
    runs = pd.concat(
        [fits([0.7, 0.65, 0.55, 0.45]), fits([0.7, 0.7, 0.85, 0.79], name="b", kind="categories", trait="skewed")],
        ignore_index=True,
    )
    runs.loc[len(runs)] = runs.loc[0].to_dict() | dict.fromkeys(EXPECTED, np.nan)  # a model without an estimate
    found = coverage(runs).set_index("kind")
    every = found.loc["all"]
    assert (every["sets"], every["fits"]) == (2, 8)
    assert (every["contained"], every["below"], every["above"]) == (62.5, 25.0, 12.5)
    assert every["contained, of these rows"] == 87.5
    assert every["error"] == pytest.approx(100 * np.std([0.5, 0.75], ddof=1) / np.sqrt(2))
    assert every["median width"] == pytest.approx(0.2)
    assert every["bias"] == pytest.approx(0.7 - 0.7)
    assert found.loc["numbers", "contained"] == 50.0
    assert found.loc["categories", "contained"] == found.loc["skewed", "contained"] == 75.0
    assert "imbalanced" not in found.index
    (sentence,) = coverage_sentences(coverage(runs), [TUNED])
    assert sentence == (
        "Regression, 300 rows: the 95 % interval of expected_score_ of TunedSVC, TunedSVR contained the R2 on the new rows in "
        "62.5 % of 8 fits (standard error 12.5); the R2 was below it in 25.0 % and above it in 12.5 %. The interval for so many "
        "new rows contained it in 87.5 %."
    )
    (sentence,) = coverage_sentences(coverage(fits([0.7], task=CLASSIFICATION)), [TUNED])
    assert "contained the accuracy on the new rows in 100.0 % of 1 fits; the accuracy was below" in sentence


def test_runs_of_earlier_files_have_no_intervals():
    runs = fits([0.7]).drop(columns=list(EXPECTED))
    assert len(coverage(runs)) == 0
    assert coverage_sentences(coverage(runs), [TUNED]) == []


def test_the_estimate_is_found_behind_a_form_and_a_scaled_target():
    X, y = make_friedman1(60, random_state=0)
    search = SpotSearchCV(SVR(), {"C": loguniform(0.1, 10.0)}, n_iter=3, refit="average", cv=KFold(3), random_state=0).fit(
        X, (y - 10) / 5
    )
    found = expected(make_pipeline(StandardScaler(), InUnit(search, 10.0, 5.0)), 500)
    own = search.expected_score_
    assert list(found.values()) == [own.value, *own.interval, *own.of_rows(500)]
    for without in (DummyRegressor(), make_pipeline(StandardScaler(), InUnit(DummyRegressor(), 0.0, 1.0))):
        assert np.isnan(list(expected(without, 500).values())).all()
    # a loss is not on the scale of the error
    other = TunedSVR(budget=1, scoring="neg_mean_absolute_error", random_state=0).fit(X, y)
    assert np.isnan(list(expected(other, 500).values())).all()


def test_a_trial_has_the_estimate_of_its_model():
    X, y = make_friedman1(300, noise=1.0, random_state=1)
    X = pd.DataFrame(X, columns=[f"x{k}" for k in range(10)])
    key, data = Key("friedman", 80, 0, TUNED, 0), Split(X[:80], y[:80], X[80:], y[80:])
    (row,) = run_trial(key, ENTRANTS[TUNED], REGRESSION, data, 0.01, (5,))
    model = TunedSVR(random_state=key.random_state).fit(X[:80], y[:80])
    assert row["expected"] == pytest.approx(model.expected_score_.value)
    assert row["expected_low"] < row["expected"] < row["expected_high"]
    assert 1 - row["error"] / 100 == pytest.approx(r2_score(y[80:], model.predict(X[80:])))
