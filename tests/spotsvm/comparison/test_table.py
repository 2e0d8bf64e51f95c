import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from spotsvm.comparison.comparison import comparison_table, holm, rank_searches, signed_rank_test

RESULTS = pd.DataFrame({"a": [3.0, 1.0, 2.0, 5.0], "b": [1.0, 1.0, 4.0, 2.0], "c": [9.0, 8.0, 7.0, np.nan]})


def test_ranks_by_hand():
    assert rank_searches(RESULTS, 1.0).to_numpy().tolist() == [[2, 1, 3], [1.5, 1.5, 3], [1, 2, 3], [2, 1, 3]]
    assert rank_searches(RESULTS, -1.0).to_numpy().tolist() == [[2, 3, 1], [2.5, 2.5, 1], [3, 2, 1], [1, 2, 3]]
    # runs without a result share the last ranks
    assert rank_searches(pd.DataFrame({"a": [np.nan], "b": [1.0], "c": [np.nan]}), 1.0).to_numpy().tolist() == [[2.5, 1.0, 2.5]]


def test_the_table_by_hand():
    table = comparison_table(RESULTS, 1.0, [0, 1, 7], [0.1, 0.2, 0.3]).set_index("search")
    assert table.index.tolist() == ["b", "a", "c"]
    a, b, c = (table.loc[label] for label in "abc")
    assert a[["best", "mean", "median", "worst"]].tolist() == [1.0, 2.75, 2.5, 5.0]
    assert a["sd"] == pytest.approx(np.sqrt((0.25**2 + 1.75**2 + 0.75**2 + 2.25**2) / 3))
    assert (a["mean_rank"], b["mean_rank"], c["mean_rank"]) == (1.625, 1.375, 3.0)
    assert a["difference"] == 1.0  # the median of 2, 0, -2, 3
    assert (b["note"], b["difference"]) == ("best ranked", 0.0)
    assert np.isnan(b["p"])
    # 2, -2 and 3 have the ranks 1.5, 1.5 and 3: of the 8 ways to sign them, 3 give a sum of 4.5 or more
    assert (a["p"], a["p_holm"], a["note"]) == (0.75, 0.75, "")
    assert np.isnan(c["p"])
    assert c["note"] == "1 of 4 pairs have a run without a result"
    assert c[["best", "mean", "median", "worst", "sd"]].tolist() == [7.0, 8.0, 8.0, 9.0, 1.0]
    assert c[["runs", "failed", "ask_seconds"]].tolist() == [3, 7, 0.3]
    turned = comparison_table(RESULTS[["a", "b"]], -1.0, [0, 0], [0.1, 0.2]).set_index("search")
    assert turned.loc["a", ["best", "worst", "mean_rank"]].tolist() == [5.0, 1.0, 1.375]


def test_equal_mean_ranks_are_ordered_by_the_median():
    results = pd.DataFrame({"late": [9.0, 1.0], "early": [2.0, 2.0], "none": [np.nan, np.nan]})
    assert comparison_table(results, 1.0, [0] * 3, [0.0] * 3)["search"].tolist() == ["early", "late", "none"]


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=7).filter(any))
@settings(max_examples=40, deadline=None)
def test_p_is_scipys(differences):
    p, reason = signed_rank_test(differences)
    assert reason == ""
    # scipy 1.17 enumerates the signs itself where there are ties
    assert p == pytest.approx(wilcoxon([d for d in differences if d]).pvalue)


def test_p_of_many_ties_is_the_normal_approximation():
    d = np.repeat([1.0, 2.0, -1.0], 10)
    assert signed_rank_test(d)[0] == wilcoxon(d, method="asymptotic").pvalue


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_the_smallest_p_that_so_many_seeds_can_give(k):
    assert signed_rank_test(np.arange(1.0, k + 1))[0] == pytest.approx(2.0 ** (1 - k))
    assert signed_rank_test(np.ones(k))[0] == pytest.approx(2.0 ** (1 - k))


@pytest.mark.parametrize(
    ("differences", "why"),
    [([0.3], "a single seed"), ([0.0, 0.0, 0.0], "all differences are 0"), ([1.0, np.nan], "1 of 2 pairs have a run without")],
)
def test_why_there_is_no_p(differences, why):
    p, reason = signed_rank_test(differences)
    assert np.isnan(p)
    assert why in reason


def test_holm_by_hand():
    # 0.011 x 4; 0.02 x 3; 0.02 x 2 < 0.06; 0.5
    assert holm([0.02, 0.5, np.nan, 0.011, 0.02]) == pytest.approx([0.06, 0.5, np.nan, 0.044, 0.06], nan_ok=True)
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert np.isnan(holm([np.nan])).all()
