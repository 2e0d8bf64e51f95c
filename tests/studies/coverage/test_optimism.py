import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from spotsvm.studies.coverage.optimism import DEFAULT, METHODS, Setting, on_optimism, optimism_jobs, optimism_table, with_truth

CLASSES = Setting("some", "classification", 40, 0.7, n_trials=3)
NUMBERS = Setting("others", "regression", 40, 0.7, n_trials=3)


@pytest.fixture(scope="module")
def runs():
    def rows(jobs):
        found = [(job.key, job.run(*job.arguments)) for job in jobs]
        return pd.DataFrame([key | row for key, rows in found for row in (rows if isinstance(rows, list) else [rows])])

    truths, studies = optimism_jobs((CLASSES, NUMBERS), 2, 2)
    return with_truth(rows(studies), rows(truths))


def test_a_row_a_study_and_method(runs):
    assert len(runs) == 2 * 2 * len(METHODS)
    assert runs.groupby(["setting", "study"]).tuned.nunique().max() == 2  # of the outer folds, and of the whole sample
    nested = runs[runs.method.str.startswith("nested")].pivot(index=["setting", "study"], columns="method", values="optimism")
    assert (nested[METHODS[0]] == nested[METHODS[1]]).all()
    assert runs.groupby(["setting", "method"]).true_optimism.nunique().max() == 1
    runs = runs.dropna(subset="low")  # folds that all agree have no interval
    assert (runs.low <= runs.optimism).all()
    assert (runs.optimism <= runs.high).all()


def test_the_table_counts_what_is_covered_and_the_text_says_it(runs):
    rows = optimism_table(runs).set_index(["setting", "method"])
    some = runs[(runs.setting == "some") & (runs.method == DEFAULT)]
    covered = [low <= truth <= high for low, truth, high in zip(some.low, some.true_optimism, some.high, strict=True)]
    row = rows.loc[("some", DEFAULT)]
    assert row.covers == np.mean(covered)
    assert row["standard error"] == pytest.approx(np.sqrt(np.mean(covered) * (1 - np.mean(covered)) / 2))
    assert row.bias == pytest.approx((some.optimism - some.true_optimism).mean())
    assert row.width == pytest.approx((some.high - some.low).mean())
    both = " / ".join(f"{100 * rows.covers[setting.name, DEFAULT]:.1f}" for setting in (CLASSES, NUMBERS))
    assert f"in 2 simulated studies of each setting the 95% interval contains the true optimism in {both} %" in on_optimism(runs)


def test_samples_have_the_classes_by_design_and_constants_a_known_score():
    X, y = CLASSES.sample(40, [1])
    assert X.shape == (40, 4)
    assert y.sum() == 0
    rows, classes = Setting("drawn", "classification", 2000, 0.7, balanced=False).sample(2000, [1])
    assert abs(classes.mean()) < 0.1
    # the class is the sign of the function but for the noise
    assert np.mean(np.sign(rows[:, 0] + rows[:, 0] * rows[:, 1]) == classes) > 0.75
    X, y = CLASSES.sample(40, [0])
    assert CLASSES.true_score(DummyClassifier().fit(X, y), [3]) == 0.5
    rows, numbers = NUMBERS.sample(40, [0])
    zero = DummyRegressor(strategy="constant", constant=0.0).fit(rows, numbers)
    # x1 + x1 x2 + noise has variance 1 + 1 + 0.49; the root of the mean of 8 squares is less on average than that of all
    assert -np.sqrt(2.49) < NUMBERS.true_score(zero, [3]) < -0.85 * np.sqrt(2.49)
