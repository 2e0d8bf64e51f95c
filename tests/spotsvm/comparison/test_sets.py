import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import ArgumentError, BudgetError, NoCompletedTrialError, Study
from spotsvm.comparison.sets import oversearching_between_sets

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
