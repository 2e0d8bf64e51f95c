import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from spotsvm.studies.alga.figures import mean_front
from spotsvm.studies.alga.runs import ALGA, GA_MODEL, GASVM, GRID, GROWN, NSGA2, RANDOM, REFITTED, TUNED
from spotsvm.studies.alga.tables import (
    against_grid,
    against_tuned,
    best_of_fronts,
    by_method,
    on_goal,
    on_tendencies,
    on_tuned,
    outcomes,
    wilcoxon_tests,
)

BOARD = "2d-chessboard-dots 4x4"


def row(method, size, run, validation, svs, seconds=1.0, **more):
    about = {"set": BOARD, "fold": 0, "method": method, "K": size, "run": run, "vectors": 2 * size or 400}
    found = {"validation": validation, "test": validation - 0.01, "support_vectors": svs, "seconds": seconds}
    return about | found | {"evaluations": 10} | more


@pytest.fixture
def runs():
    rng = np.random.default_rng(0)
    rows = [row(GRID, 0, 0, 0.95, 200, 100.0)]
    for run in range(12):
        rows.append(row(GA_MODEL, 0, run, 0.96, 250, 400.0))
        for size, accuracy in ((8, 0.7), (32, 0.945)):
            noise = rng.normal(0, 0.002, 3)
            rows.append(row(ALGA, size, run, accuracy + noise[0], size / 2, 4.0))
            rows.append(row(GASVM, size, run, accuracy - 0.05 + noise[1], size, 2.0))
            rows.append(row(RANDOM, size, run, accuracy - 0.1 + noise[2], size, 1.0))
        rows += [row(NSGA2, 0, run, 0.9, 40, 9.0, vectors=80), row(NSGA2, 0, run, 0.8, 10 + run, 9.0, vectors=30)]
    return pd.DataFrame(rows)


def test_means_over_the_runs(runs):
    table = by_method(runs).set_index(["method", "K"])
    some = runs[(runs.method == GASVM) & (runs["K"] == 32)]
    found = table.loc[GASVM, 32]
    assert found["V %"] == pytest.approx(100 * some.validation.mean())
    assert found["sd Psi"] == pytest.approx(100 * some.test.std())
    assert found["SVs"] == 32
    assert (found["seconds"], found["with grid"]) == (2.0, 102.0)
    assert (table.loc[ALGA, "seconds"] == table.loc[ALGA, "with grid"]).all()
    assert table.index.get_level_values(0).unique().tolist() == [GRID, GA_MODEL, GASVM, ALGA, RANDOM, NSGA2]
    assert table.index.get_level_values(1)[2:6].tolist() == [8, 32, 8, 32]


def test_the_most_accurate_point_of_a_front_counts(runs):
    best = best_of_fronts(runs)
    assert (best[best.method == NSGA2].validation == 0.9).all()
    assert len(best) == len(runs) - 12
    vectors, accuracy = mean_front(runs[runs.method == NSGA2])
    assert vectors.tolist() == [21, 40], "it starts where all runs have a point"
    assert accuracy == pytest.approx([0.8, 0.9])


def test_tests_are_scipys_on_pairs_and_say_how_often_alga_is_better(runs):
    tests = wilcoxon_tests(runs.sample(frac=1.0, random_state=1)).set_index(["K", "ALGA less"]).sort_index()
    ours, theirs = (
        runs[(runs.method == method) & (runs["K"] == 32)].sort_values("run").test.to_numpy() for method in (ALGA, GASVM)
    )
    found = tests.loc[(32, GASVM)]
    assert found["test"] == pytest.approx(100 * np.mean(ours - theirs))
    assert found["p test"] == pytest.approx(wilcoxon(ours - theirs, method="exact").pvalue)
    assert found["pairs"] == 12
    assert tests["Holm test"].ge(tests["p test"]).all()
    assert set(tests.index.get_level_values(1)) == {GASVM, RANDOM, GA_MODEL, GRID, NSGA2}
    against = runs[(runs.method == ALGA) & (runs["K"] == 8)].validation - 0.95
    assert tests.loc[(8, GRID), "p validation"] == pytest.approx(wilcoxon(against, method="exact").pvalue)
    counts = outcomes(wilcoxon_tests(runs)).set_index("measure")
    assert counts.loc["validation", ["better", "worse", "alike"]].tolist() == [2, 0, 0]
    assert counts.loc["support_vectors", "better"] == 2  # fewer are better
    alike = runs.assign(validation=np.where(runs.method.isin([ALGA, GASVM]), 0.9, runs.validation))
    assert outcomes(wilcoxon_tests(alike)).set_index("measure").loc["validation", "alike"] == 2


def test_the_goal_is_judged_by_all_three(runs):
    found = against_grid(runs).set_index("K")
    assert found.index.tolist() == ["8", "32"]
    assert found["share of SVs"].tolist() == [4 / 200, 16 / 200]
    assert found["share of time"].tolist() == [0.04, 0.04]
    assert found["reached"].tolist() == ["no", "yes"]
    assert "4x4: reached by ALGA with K = 32 (" in on_goal(runs)
    slow = runs.assign(seconds=runs.seconds.where(runs.method != ALGA, 10.5))
    assert (against_grid(slow)["reached"] == "no").all()
    assert "reached at no K that was run" in on_goal(slow)
    assert on_goal(runs.assign(set="other")) == ""
    grown = pd.concat([runs, pd.DataFrame([row(GROWN, 0, 0, 0.94, 20, 9.0)])])
    assert "reached by ALGA with K = 32, ALGA, growing (" in on_goal(grown)


def test_beside_the_tuned_machine(runs):
    assert (len(against_tuned(runs)), on_tuned(runs)) == (0, "")
    tuned = pd.concat([runs, pd.DataFrame([row(TUNED, 0, run, 0.95, 64, 2.0) for run in range(12)])])
    found = against_tuned(tuned).set_index("K")
    assert found["share of SVs"].tolist() == [4 / 64, 16 / 64]
    assert found["share of time"].tolist() == [2.0, 2.0]
    ours = runs[(runs.method == ALGA) & (runs["K"] == 32)].test.mean()
    assert found.loc["32", "points less on Psi"] == pytest.approx(100 * (0.94 - ours))
    assert f"4x4: ALGA with K = 32, {100 * (ours - 0.94):+.1f} points, 25 % of the SVs, 2.0 times the time. " in on_tuned(tuned)
    assert "It has fewer support vectors on 1 of 1 sets, took less time on 0, and is more accurate on 0." in on_tuned(tuned)
    assert "refitted" not in on_tuned(tuned)
    refitted = pd.concat([runs, pd.DataFrame([row(REFITTED, 0, run, 0.9, 8, 20.0) for run in range(12)])])
    text = on_tuned(refitted)
    assert text.startswith("Beside the same SVC refitted on all rows, ")
    assert text.endswith("It has fewer support vectors on 0 of 1 sets, took less time on 1, and is more accurate on 1.")


def test_what_is_said_of_the_tendencies(runs):
    text = "\n".join(on_tendencies(runs))
    assert "of 2 pairs of set and K: accuracy on V better in 2" in text
    assert "grid search 50 to 50 % of T, GA-model 62 to 62 % of T" in text
    assert "longer than GASVM in 2 of 2, longer than grid search and GASVM together in 0" in text
    assert "-24 SVs on 2d-chessboard-dots 4x4" in text
    assert on_tendencies(runs[runs.method == GRID])  # nothing to compare, and no error
    # of larger sets the paper says nothing
    assert "Accuracy on V less" in text
    assert "Accuracy on V less" not in "\n".join(on_tendencies(runs.assign(set="Banana")))
