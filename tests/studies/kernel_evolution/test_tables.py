import numpy as np
import pandas as pd
import pytest

from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate
from spotsvm.studies.common.paired_tests import corrected_resampled_t_test
from spotsvm.studies.kernel_evolution.runs import FILES, GP, TABLE_9, TABLE_10, TUNED_RBF
from spotsvm.studies.kernel_evolution.tables import (
    ALL_SETS,
    best_kernels,
    differences,
    latex_kernels,
    on_luck,
    on_paper,
    on_time,
    on_tuned_rbf,
    paired_tests,
    shown_table,
    table_9,
)

METHODS = ("GP (paper)", "GP (psd)", "tRBF")
TEST_ROWS = {"Ionosphere": 71, "Glass2": 33, "Heart": 54, "Liver": 69, "Pima": 154}


def runs_of(means, splits=4, **more):
    """Return runs with these mean errors by method, about which the splits differ alike."""
    rows = []
    for (name, method), mean in means.items():
        for split in range(splits):
            row = {"set": name, "method": method, "split": split, "error": mean + 0.01 * (split - (splits - 1) / 2)}
            row |= {"validation": mean - 0.02, "seconds": 60.0 + split, "evaluations": 2500, "train_rows": 80, "test_rows": 20}
            row |= {"formula": f"{method} {split}", "latex": "k", "kernel": "{}", "constants": "", "size": 3, "C": 1.0}
            rows.append(row | more)
    return pd.DataFrame(rows)


def as_printed(shift=0.0, psd=0.0):
    means = {(name, "GP (paper)"): TABLE_9[name, GP].mean + shift for name in FILES}
    means |= {(name, "GP (psd)"): TABLE_9[name, TUNED_RBF].mean + psd for name in FILES}
    return means | {(name, "tRBF"): TABLE_9[name, TUNED_RBF].mean for name in FILES}


@pytest.mark.parametrize("method", [GP, TUNED_RBF])
def test_the_printed_errors_are_of_the_test_parts(method):
    for name, n in TEST_ROWS.items():
        printed = TABLE_9[name, method]
        assert printed.best <= printed.mean <= printed.worst
        assert printed.sd <= (printed.worst - printed.best) / 2 * np.sqrt(20 / 19)
        for error in (printed.best, printed.worst):
            assert abs(n * error - round(n * error)) <= n * 0.00005


def test_the_printed_kernels_are_kernels():
    X = np.random.default_rng(0).normal(size=(5, 3))
    products, numbers = InnerProducts.between(X), {"c1": 0.5, "c2": 2.0}
    G, norms = X @ X.T, (X**2).sum(axis=1)
    both = np.outer(norms, norms)
    expected = {
        "Ionosphere": 0.5 + G**2 / (2.0 * both) ** 2,
        "Glass2": (0.5 * both) ** 2 + G**2,
        "Heart": G,
        "Liver": 0.5 + (2.0 * G) ** 2,
        "Pima": 0.5 * G,
    }
    for name, expression in TABLE_10.items():
        assert evaluate(expression, products, numbers) == pytest.approx(expected[name])
    assert TABLE_10["Liver"].latex() == r"c_1 + (c_2 \vec{X}_i^T \vec{X}_j)^2"


def test_table_9_stands_beside_the_printed_one():
    table = table_9(runs_of(as_printed())).set_index(["method", "set"])
    assert table.index.tolist() == [(method, name) for method in METHODS for name in FILES]
    row = table.loc["GP (paper)", "Heart"]
    assert (row["mean"], row["mean printed"]) == (pytest.approx(0.1516), 0.1516)
    assert (row["best"], row["worst"]) == (pytest.approx(0.1366), pytest.approx(0.1666))
    assert row["SD"] == pytest.approx(np.std([-0.015, -0.005, 0.005, 0.015], ddof=1))
    assert row["SD printed"] == 0.04939896
    assert (row["validation"], row["seconds"]) == (pytest.approx(0.1316), 61.5)
    assert table.loc["GP (psd)", [c for c in table if c.endswith("printed")]].isna().all(axis=None)


def test_of_kernels_as_good_the_smallest_is_best():
    runs = runs_of({("Heart", "GP (paper)"): 0.2, ("Heart", "tRBF"): 0.2})
    runs.loc[runs.split == 1, "validation"] = 0.3
    runs.loc[runs.split == 2, "size"] = 1
    runs.loc[runs.split == 3, "size"] = 1
    assert best_kernels(runs).columns.is_unique
    (best,) = best_kernels(runs).to_dict("records")
    assert (best["kernel"], best["split"], best["printed"]) == ("GP (paper) 2", 2, "<x_i, x_j>")
    assert best["error"] == pytest.approx(0.205)
    assert latex_kernels(runs).values.tolist() == [
        ["Heart", "GP (paper)", "k"],
        ["Heart", "as printed", r"\vec{X}_i^T \vec{X}_j"],
    ]


def test_differences_are_paired_by_split():
    runs = runs_of(as_printed(psd=0.05), splits=3)
    runs.loc[(runs["set"] == "Pima") & (runs.method == "GP (psd)"), "error"] += [0.03, 0.0, -0.06]
    shuffled = runs.sample(frac=1, random_state=0)
    some = differences(shuffled, "GP (psd)").set_index(["set", "split"]).sort_index()
    assert some.loc["Pima", "difference"].tolist() == pytest.approx([0.08, 0.05, -0.01])
    assert (some.ratio == 0.25).all()
    tests = paired_tests(shuffled).set_index(["difference of", "set"])
    row = tests.loc["GP (psd) - tRBF", "Pima"]
    known = corrected_resampled_t_test([0.08, 0.05, -0.01], 0.25)
    assert (row.difference, row.low, row.high, row.p) == pytest.approx((known.mean, known.low, known.high, known.p))
    assert (row.lower, row.equal, row.higher) == (1, 0, 2)
    over = tests.loc["GP (psd) - tRBF", ALL_SETS]
    assert over.difference == pytest.approx((4 * 0.05 + 0.04) / 5)
    assert over.lower + over.equal + over.higher == 15


@pytest.mark.parametrize(("shift", "met", "verdict"), [(-0.001, 5, "met"), (0.001, 0, "missed")])
def test_the_goal_beside_the_paper_is_judged(shift, met, verdict):
    text = on_paper(runs_of(as_printed(shift)))
    assert f"GP (paper) is no worse than the paper's GP on {met} of 5 sets: the goal of 4 is {verdict} (Ionosphere" in text
    assert "tRBF is no worse than the paper's tRBF on 5 of 5 sets (Ionosphere 0.0599 (0.0599)" in text
    means = as_printed(-0.001)
    for name, found in (("Pima", "on 4 of 5 sets: the goal of 4 is met"), ("Heart", "on 3 of 5 sets: the goal of 4 is missed")):
        means[name, "GP (paper)"] += 0.5
        assert found in on_paper(runs_of(means))


@pytest.mark.parametrize(("psd", "verdict"), [(-0.002, "met"), (0.0, "met"), (0.002, "missed")])
def test_the_goal_beside_the_tuned_kernel_is_judged(psd, verdict):
    text = on_tuned_rbf(runs_of(as_printed(psd=psd)))
    assert f"GP (psd) - tRBF: {psd:+.4f} on average over 5 sets" in text
    assert text.endswith(f"The goal of no higher error than tRBF on average is {verdict}.")
    few = {key: mean for key, mean in as_printed(psd=psd).items() if key[0] in ("Heart", "Pima")}
    assert "The goal" not in on_tuned_rbf(runs_of(few))
    clear = runs_of(as_printed(psd=psd), splits=10)
    worse = (clear["set"] == "Glass2") & (clear.method == "GP (paper)")
    clear.loc[worse, "error"] += 0.1 + 0.001 * clear.loc[worse, "split"]
    assert "single sets with p below 0.05: Glass2 (+0.1575, p < 0.001)" in on_tuned_rbf(clear)


def test_luck_and_time():
    runs = runs_of(as_printed())
    assert "means over the sets: GP (paper) 2.0, GP (psd) 2.0, tRBF 2.0." in on_luck(runs)
    assert "the median of the splits: GP (paper) 1.02, GP (psd) 1.02; 1.05 at most. The goal of 5 minutes is met." in on_time(
        runs
    )
    assert "is missed" in on_time(runs.assign(seconds=301.0))
    assert "is met in the median" in on_time(runs.assign(seconds=np.where(runs.split == 0, 301.0, 60.0)))
    assert "The goal" not in on_time(runs.assign(evaluations=40))
    assert on_time(runs[runs.method == "tRBF"]) == on_tuned_rbf(runs[runs.method == "tRBF"]) == ""


def test_bars_of_formulae_end_no_cells():
    assert shown_table(pd.DataFrame({"set": ["Heart"], "kernel": ["|x_i|^2"]})).splitlines()[-1] == r"| Heart | \|x_i\|^2 |"
    assert shown_table(pd.DataFrame({"set": ["Heart"], "by": ["GP"], "LaTeX": [r"\|x\|"]})) == r"- Heart, GP: $\|x\|$"
