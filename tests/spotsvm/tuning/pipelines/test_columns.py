import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import skew
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import PowerTransformer, StandardScaler

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.tuning.pipelines.columns import MOST_LEVELS, calendar_parts, column_transformer
from spotsvm.tuning.pipelines.default_spaces import table_pipeline
from spotsvm.tuning.pipelines.registry import named_pipeline
from spotsvm.tuning.tables.kinds import Kinds
from spotsvm.tuning.tables.table import make_table

N = 120
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "gap": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
        "smoker": np.where(RNG.random(N) < 0.1, None, np.where(RNG.random(N) < 0.5, "yes", "no")),
        "town": RNG.choice(["Köln", "Bonn", "Ulm"], N),
        "day": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
    }
)
Y = pd.Series(np.where((FRAME["size"] + (FRAME["town"] == "Ulm")) > 0.3, "a", "b"), name="y")


def test_numbers_alone_are_made_nearly_normal_on_request():
    X = np.exp(RNG.normal(size=(200, 2))) * [1e-6, 1e6]
    assert (np.abs(skew(column_transformer(Kinds(("a", "b")), "power").fit_transform(X))) < 0.1 * skew(X)).all()
    parts = dict(part[:2] for part in column_transformer(Kinds(("a",), ("b",), incomplete=("a",)), "power").transformers)
    assert type(parts["numbers"][-1][-1]) is PowerTransformer
    assert type(parts["yes_no"][-1]) is StandardScaler
    X = pd.DataFrame({"a": np.arange(20.0)})
    named = named_pipeline("table", "classification", X, X["a"] > 9, kinds=Kinds(("a",)), scale="power")
    assert type(named.estimator[0][-1]) is PowerTransformer


def test_plain_numbers_are_scaled_as_ever():
    assert type(column_transformer(Kinds(("a", "b")))) is StandardScaler
    given = [table_pipeline("classification", 100, kinds)[0] for kinds in (None, Kinds(("a",)))]
    assert [repr(one) for one in given] == ["Pipeline(steps=[('standardscaler', StandardScaler()), ('svc', SVC())])"] * 2


def test_columns_become_numbers_without_gaps():
    table = make_table(FRAME, Y)
    fitted = column_transformer(table.kinds).fit(table.X[:80])
    rows = fitted.transform(table.X)
    # size, gap and where it was missing; smoker and where; three towns; the day and four of the calendar
    assert rows.shape == (N, 3 + 2 + 3 + 5)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[:80, 0], StandardScaler().fit_transform(FRAME[["size"]][:80])[:, 0])
    np.testing.assert_array_equal(rows[:, 2] > 0, FRAME["gap"].isna())
    np.testing.assert_array_equal(rows[:, 5:8].argmax(axis=1), pd.Categorical(FRAME["town"]).codes)


def test_rare_levels_count_as_one_also_with_new_ones():
    levels = [f"l{k}" for k in range(40)]
    X = pd.DataFrame({"town": levels * 5 + ["l0"] * 400})
    kinds = Kinds(categorical=("town",))
    fitted = column_transformer(kinds).fit(X)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = fitted.transform(pd.DataFrame({"town": ["l0", "l39", "new"]}))
    assert not told
    assert column_transformer(kinds).fit_transform(pd.DataFrame({"town": levels * 5})).shape[1] == MOST_LEVELS
    assert rows[1].tolist() == rows[2].tolist() != rows[0].tolist()


def test_new_rows_may_have_gaps_and_levels_that_training_rows_had_not():
    table = make_table(FRAME, Y)
    complete = table.X.dropna()
    fitted = clone(column_transformer(table.kinds)).fit(complete)
    new = pd.DataFrame({"size": [np.nan], "gap": [1.0], "smoker": ["maybe"], "town": ["Rom"], "day": ["soon"]})
    assert np.isfinite(fitted.transform(new)).all()


def test_calendar_parts():
    X = pd.DataFrame({"a": ["01.01.1970 06:00", "02.01.1970 18:00"], "b": ["1971-01-01", None]})
    rows = calendar_parts(X, {"a": "%d.%m.%Y %H:%M", "b": "%Y-%m-%d"})
    assert rows.shape == (2, 7 + 5)
    assert rows[:, 0].tolist() == [0.25, 1.75]
    np.testing.assert_allclose(rows[:, 5:7], [[1, 0], [-1, 0]], atol=1e-12)
    assert rows[0, 7] == 365
    assert np.isnan(rows[1, 7:]).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_shared_work_gives_the_scores_of_scikit_learn(task):
    """Transformers are fitted within each fold, by the shared engine too; of classifiers C is profiled and confirmed."""
    y = Y if task == "classification" else FRAME["size"] + RNG.normal(size=N) / 9
    table = make_table(FRAME, y, task)
    pipeline, space = table_pipeline(task, N, table.kinds)
    cv = StratifiedKFold(3, shuffle=True, random_state=0) if task == "classification" else 3
    search = SpotSearchCV(pipeline, space, n_iter=2, search="random", cv=cv, random_state=0).fit(table.X, table.y)
    if task == "classification":
        assert any(t.suggestion is not None for t in search.study_.trials)
        assert 0 < search.fresh_score_ <= 1
    for params, score in list(zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True))[:4]:
        again = cross_val_score(clone(pipeline).set_params(**params), table.X, table.y, cv=cv)
        assert score == pytest.approx(again.mean(), abs=1e-6)
