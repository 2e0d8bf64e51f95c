import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import uniform

from spotsvm import OversearchingMatrix, Study, oversearching_between_sets
from spotsvm.errors import ArgumentError, BudgetError, NoCompletedTrialError, StorageError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
BEST = {"one": 0.2, "two": 0.5, "three": 0.9}


def error(params, name):
    return 1.0 + (params["x"] - BEST[name]) ** 2 + (params["y"] - 0.5) ** 2


def tune(objective=error, sets=tuple(BEST), search="random", n_trials=8, seeds=2, **further):
    return oversearching_between_sets(objective, SPACE, sets, search, n_trials, seeds, **further)


def test_each_row_is_one_search_whose_winner_is_applied_to_all():
    matrix = tune(n_trials=30)
    turned = tune(lambda p, name: 9.0 - error(p, name), direction="maximize", n_trials=30)
    assert turned.values == pytest.approx(9.0 - matrix.values)
    for k in range(2):
        for v, name in enumerate(BEST):
            study = Study(SPACE, "random", k).run(lambda p, name=name: error(p, name), n_trials=30)
            winner = study.recommend().params
            assert np.allclose(matrix.values[k, v], [error(winner, other) for other in BEST], rtol=0, atol=0)


def test_kriging_finds_what_lies_apart():
    # tuned exactly, R_tt is 1 and R_vt is 1 + the squared distance of the two best places
    matrix = tune(search="kriging", n_trials=25)
    expected = [np.mean([(BEST[v] - BEST[t]) ** 2 for v in BEST if v != t]) for t in BEST]
    assert np.allclose(matrix.V, expected, atol=0.02)


def test_only_winners_are_evaluated_elsewhere():
    calls = []

    def counted(params, name):
        calls.append(name)
        return error(params, name)

    tune(counted, n_trials=8, seeds=1)
    assert len(calls) == 3 * 8 + 3 * 2


def test_the_matrix_does_not_depend_on_n_jobs():
    def here(params, name):  # workers get it by value: they do not find this module
        return 1.0 + params["x"] ** 2 + (params["y"] - 0.1 * len(name)) ** 2

    assert np.array_equal(tune(here).values, tune(here, n_jobs=2).values)


def test_goes_on_with_its_records(tmp_path):
    def broken(params, name):
        broken.calls += 1
        if broken.calls > 20:
            raise KeyboardInterrupt
        return error(params, name)

    broken.calls = 0
    with pytest.raises(KeyboardInterrupt):
        tune(broken, path=tmp_path)
    evaluated = []

    def counted(params, name):
        evaluated.append(name)
        return error(params, name)

    matrix = tune(counted, path=tmp_path)
    assert np.array_equal(matrix.values, tune().values)
    assert len(evaluated) == 2 * 3 * (8 + 2) - 20
    evaluated.clear()
    tune(counted, path=tmp_path)
    assert evaluated == []
    tune(counted, path=tmp_path, n_trials=9)
    assert 6 <= len(evaluated) <= 6 + 6 * 2


def test_a_record_of_another_set_is_refused(tmp_path):
    tune(path=tmp_path, seeds=1)
    (tmp_path / "one_seed0.db").rename(tmp_path / "two_seed0.db")
    with pytest.raises(ValueError, match="another set"):
        tune(path=tmp_path, seeds=1)


@pytest.mark.parametrize(
    ("changed", "kind", "words"),
    [
        ({"sets": ["one"]}, ArgumentError, "there is only 1 set"),
        ({"objective": 3}, ArgumentError, "objective=3 is not callable"),
        ({"direction": "up"}, ArgumentError, "direction='up'"),
        ({"search": "kriging", "n_trials": 3}, BudgetError, "n_trials=3 is below"),
        ({"search": "nsga2"}, ArgumentError, "several objectives"),
        ({"objective": lambda p, name: error(p, name) - 2.0}, ArgumentError, "V_t is relative to it"),
    ],
)
def test_bad_input(changed, kind, words):
    with pytest.raises(kind, match=words):
        tune(**changed)


def test_a_set_without_a_completed_trial_or_on_which_a_winner_fails_is_named():
    def picky(params, name):
        if name == "two" and picky.asked == "one":
            raise ValueError("no such rows")
        picky.asked = name
        return error(params, name)

    picky.asked = ""
    with pytest.raises(NoCompletedTrialError, match="set 'one', seed 0: no trial has succeeded"):
        tune(lambda params, name: 1 / 0)
    with pytest.raises(ArgumentError, match="search on 'one' from seed 0 has no value on 'two': ValueError: no such rows"):
        tune(picky)


# Koch et al. 2011, Table 6
TABLE6 = [[9.11, 16.40, 12.88], [10.82, 12.78, 12.36], [10.45, 12.93, 7.69]]
SETS = ["Set 1", "Set 3", "Set 4"]


def seeds(n=4, sets=3, seed=0):
    rng = np.random.default_rng(seed)
    return 5.0 + rng.random((n, sets, sets)) - 2.0 * np.eye(sets)


def test_table_6_of_the_paper():
    matrix = OversearchingMatrix(TABLE6, SETS)
    # printed: S_t 10.64, 14.67, 12.62; V_t 16.7 %, 14.7 %, 64.1 % (the second is 14.75 before it is cut)
    assert np.allclose(matrix.S, [10.635, 14.665, 12.62], atol=1e-12)
    assert [f"{100 * v:.2f}" for v in matrix.V] == ["16.74", "14.75", "64.11"]
    assert np.isnan(matrix.V_error).all()


def test_markdown_is_laid_out_as_table_6():
    lines = OversearchingMatrix(TABLE6, SETS).to_markdown().splitlines()
    assert lines[0] == "| tuned on | Set 1 | Set 3 | Set 4 |"
    assert lines[2:5] == [
        "| Set 1 | **9.11** | 16.40 | 12.88 |",
        "| Set 3 | 10.82 | **12.78** | 12.36 |",
        "| Set 4 | 10.45 | 12.93 | **7.69** |",
    ]
    assert lines[6] == "| V_t | 16.7 % | 14.7 % | 64.1 % |"
    # standard deviations in brackets; bars in names do no harm
    lines = OversearchingMatrix([TABLE6, np.array(TABLE6) + 0.2], ["a|b", "c", "d"]).to_markdown().splitlines()
    assert lines[2] == "| a\\|b | **9.21** (0.14) | 16.50 (0.14) | 12.98 (0.14) |"
    assert "+-" in lines[-1]


@given(arrays(float, st.integers(2, 6).map(lambda n: (n, n)), elements=st.floats(0.1, 100)))
@settings(max_examples=20, deadline=None)
def test_sums_by_hand(R):
    n = len(R)
    matrix = OversearchingMatrix(R, [f"s{k}" for k in range(n)])
    for t in range(n):
        S = sum(R[v, t] for v in range(n) if v != t) / (n - 1)
        assert matrix.S[t] == pytest.approx(S)
        assert matrix.V[t] == pytest.approx((S - R[t, t]) / R[t, t], abs=1e-9)


def test_scores_turn_the_sign_and_nothing_else():
    errors, scores = OversearchingMatrix(TABLE6, SETS), OversearchingMatrix(TABLE6, SETS, "maximize")
    assert np.array_equal(scores.V, -errors.V)
    assert np.array_equal(scores.S, errors.S)
    assert "**16.40**" in scores.to_markdown()
    assert OversearchingMatrix([[0.9, 0.7], [0.6, 0.8]], ["a", "b"], "maximize").V.tolist() == pytest.approx([1 / 3, 0.125])


def test_seeds_mean_deviation_and_jackknife():
    values = seeds()
    matrix = OversearchingMatrix(values, SETS)
    assert np.allclose(matrix.mean, values.mean(axis=0))
    assert np.allclose(matrix.std, values.std(axis=0, ddof=1))
    assert matrix.V_by_seed.shape == (4, 3)
    runs = matrix.runs().set_index(["run", "tuned_on", "applied_to"])["value"]
    assert len(runs) == 36
    assert runs[1, "Set 3", "Set 4"] == values[1, 1, 2]
    for t in range(3):
        left_out = []
        for k in range(4):
            R = np.mean([values[j] for j in range(4) if j != k], axis=0)
            left_out.append(((R[:, t].sum() - R[t, t]) / (len(R) - 1) - R[t, t]) / R[t, t])
        by_hand = np.sqrt(3 / 4 * sum((x - np.mean(left_out)) ** 2 for x in left_out))
        assert matrix.V_error[t] == pytest.approx(by_hand)


def test_summary_says_where_it_is_clear():
    clear = OversearchingMatrix(seeds(), SETS).summary()
    assert clear.endswith("\nThe 95 % interval lies above 0 on Set 1, Set 3, Set 4.")
    nothing = 5.0 + 0.1 * np.array([1, -1, 1, -1])[:, None, None] * np.eye(3)
    assert OversearchingMatrix(nothing, SETS).summary().endswith("on none of them.")
    assert "A single seed does not show the spread" in OversearchingMatrix(TABLE6, SETS).summary()


def test_frame_and_csv_hold_the_same_numbers(tmp_path):
    matrix = OversearchingMatrix(seeds(), SETS)
    frame = matrix.frame()
    assert frame["tuned_on"].tolist() == [*SETS, "S_t", "V_t"]
    assert np.array_equal(frame[SETS].to_numpy()[:3], matrix.mean)
    assert np.array_equal(frame[SETS].to_numpy()[3:], [matrix.S, matrix.V])
    assert np.allclose(frame["sd Set 3"].tolist()[4], matrix.V_by_seed[:, 1].std(ddof=1))
    matrix.to_csv(tmp_path / "matrix.csv")
    read = pd.read_csv(tmp_path / "matrix.csv", dtype=str)
    assert list(read) == list(frame)
    assert read["tuned_on"].tolist() == frame["tuned_on"].tolist()
    assert all(np.array_equal(read[c].map(float), frame[c]) for c in frame.columns[1:])
    with pytest.raises(StorageError, match="cannot write the matrix"):
        matrix.to_csv(tmp_path / "nowhere" / "matrix.csv")


@pytest.mark.parametrize("values", [TABLE6, seeds()])
def test_comes_back_from_json(values):
    matrix = OversearchingMatrix(values, SETS)
    again = OversearchingMatrix.from_dict(json.loads(json.dumps(matrix.to_dict(), allow_nan=False)))
    assert np.array_equal(again.values, matrix.values)
    assert (again.names, again.direction) == (matrix.names, matrix.direction)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_plot_shows_the_numbers(direction):
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    ax = OversearchingMatrix(TABLE6, SETS, direction).plot()
    assert {"9.11", "16.4", "7.69"} <= {text.get_text() for text in ax.texts}
    assert [label.get_text() for label in ax.get_yticklabels()] == SETS
    assert "applied to" in ax.get_xlabel()
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("values", "names", "words"),
    [
        ([[1.0]], ["a"], "there is only 1 set; use two or more"),
        ([[1.0, 2.0]], ["a", "b"], r"shape \(1, 1, 2\); use"),
        ([[1.0, 2.0], [2.0, 1.0]], ["a", "b", "c"], r"use \(seeds, 3, 3\)"),
        ([[1.0, np.nan], [2.0, 1.0]], ["a", "b"], r"tuned on 'a' and applied to 'b' has the value nan \(run 0\)"),
        ([[1.0, 2.0], [2.0, 0.0]], ["a", "b"], r"applied to 'b' has the value 0 \(run 0\), and V_t is relative to it"),
        ([[1.0, 2.0], [2.0, 1.0]], ["a", "a"], "two sets are named 'a'"),
        ([[1.0, 2.0], [2.0, 1.0]], ["a", 3], "are not names"),
    ],
)
def test_what_is_no_matrix(values, names, words):
    with pytest.raises(ArgumentError, match=words):
        OversearchingMatrix(values, names)
    with pytest.raises(ArgumentError, match="direction='up' is unknown"):
        OversearchingMatrix(TABLE6, SETS, "up")
