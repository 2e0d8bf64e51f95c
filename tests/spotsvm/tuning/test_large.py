import numpy as np
import pandas as pd
import pytest

from spotsvm import SpotSearchCV
from spotsvm.tables import Limits, Table, named_pipeline
from spotsvm.tuning.large import sample


def table(counts, groups=None):
    y = pd.Series(np.repeat(list("abcdefghij")[: len(counts)], counts), name="y")
    return Table(pd.DataFrame({"a": np.arange(float(len(y)))}), y, "classification", groups=groups)


def test_small_tables_are_whole():
    limits, whole = Limits(whole=750, sampled=100, fitted=300, many=1000), table([400, 400])
    assert limits.test_share(1000) == 0.25
    assert limits.to_tune(table([350, 400]), 5).y.size == 750
    assert limits.to_tune(whole, 5).y.size == 100
    assert limits.to_fit(whole, 5).y.size == 300
    assert Limits().test_share(50_000) == 0.1


def test_a_sample_keeps_the_shares_of_classes_but_for_rare_ones():
    whole = table([600, 300, 97, 3])
    some = sample(whole, 100, 3)
    counts = some.y.value_counts().to_dict()
    assert sum(counts.values()) == 100
    assert counts == {"a": pytest.approx(60, abs=3), "b": pytest.approx(30, abs=2), "c": pytest.approx(10, abs=1), "d": 3}
    assert sample(whole, 10, 3).y.value_counts().to_dict() == {"a": 3, "b": 3, "c": 3, "d": 3}
    assert some.X["a"].is_monotonic_increasing
    assert sample(whole, 100, 3).X.equals(some.X)
    assert sample(whole, 1000, 3) is whole


def test_the_sample_of_a_search_is_that_of_the_class():
    limits, whole = Limits(whole=300, sampled=100, fitted=200), table([360, 40], pd.Series(np.arange(400) // 8, name="person"))
    some = limits.to_tune(whole, 3)
    assert (some.groups.value_counts() == 8).all()
    assert 100 <= len(some.y) < 108
    assert some.groups[some.y == "b"].nunique() >= 3
    pipeline = named_pipeline("svm", some, cv=3)
    options = {"n_iter": 1, "cv": pipeline.splitter, "rows": (100, 200), "refit": False}
    search = SpotSearchCV(pipeline.estimator, {"svc__C": [1.0]}, **options)
    search.fit(whole.X, whole.y, groups=whole.groups)
    assert whole.part(search.sampled_rows_).X.equals(some.X)
