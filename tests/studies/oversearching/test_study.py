import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from spotsvm.studies.common.data import DataSet
from spotsvm.studies.oversearching.results import best_on_new_rows, by_trials, means, spent_on_luck
from spotsvm.studies.oversearching.study import A_GAMMA_A_FEATURE, ONE_GAMMA, OversearchingStudy, Sample, run_search


def small(**options):
    return OversearchingStudy(quick=True, **({"n_trials": 6, "searches": ("random",)} | options))


@pytest.fixture(scope="module")
def study():
    return small().run()


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    X = rng.normal(2.0, 3.0, size=(200, 3))
    return DataSet("simulated", X, np.where(X[:, 0] > 2, 1.0, -1.0))


def test_one_gamma_is_scikit_learns_machine(pool):
    sample = Sample(pool, 60, 3)
    params = {"C": 4.0, "gamma": 0.2}
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    assert sample.cross_validated(params) == pytest.approx(
        cross_val_score(SVC(C=4.0, gamma=0.2), sample._X, sample._y, cv=folds).mean()
    )
    assert sample.n_held_out == 140
    machine = SVC(C=4.0, gamma=0.2).fit(sample._X, sample._y)
    assert sample.held_out(params) == machine.score(sample._new_X, sample._new_y)
    assert sample.held_out({"C": 4.0} | {f"gamma{i}": 0.2 for i in range(3)}) == sample.held_out(params)
    assert sample._X.mean(axis=0) == pytest.approx(0)
    # only the first feature tells the classes apart, and the others can be left out
    assert sample.held_out({"C": 100.0, "gamma0": 0.1, "gamma1": 1e-9, "gamma2": 1e-9}) > 0.95
    assert sample.held_out({"C": 100.0, "gamma0": 1e-9, "gamma1": 0.1, "gamma2": 0.1}) < 0.7


def test_searches_share_rows_and_folds(pool):
    searches = ("random", "lhs", "kriging", "cmaes", "vns", "lbfgsb")
    runs = [pd.DataFrame(run_search(pool, 40, ONE_GAMMA, search, 1, (1, 2, 7))) for search in searches]
    again = pd.DataFrame(run_search(pool, 40, ONE_GAMMA, "random", 1, (1, 2, 7)))
    pd.testing.assert_frame_equal(again, runs[0])
    # SVC's own parameters, and the better of them and the centre
    sample = Sample(pool, 40, 1)
    default, centre = (sample.cross_validated({"C": C, "gamma": gamma}) for C, gamma in ((1.0, 1 / 3), (2.0**2.5, 2.0**-4)))
    for run in runs:
        assert run.tuned[:2].tolist() == [default, max(default, centre)]
    richer = run_search(pool, 40, A_GAMMA_A_FEATURE, "random", 1, (1, 2))
    assert [row["tuned"] for row in richer] == [default, max(default, centre)]


def test_means_and_their_errors():
    runs = pd.DataFrame(
        {
            "set": ["a"] * 4 + ["b"] * 4,
            "repeat": [0, 0, 1, 1] * 2,
            "search": ["x", "y"] * 4,
            "optimism": [0.1, 0.3, 0.3, 0.5, 1.0, 1.0, 1.2, 1.2],
        }
    )
    runs["all"] = 0
    found = means(runs, ["all"]).iloc[0]
    # of repeats 0.2 and 0.4 in one set, and 1.0 and 1.2 in the other: variance 0.02 each, over two repeats and two sets
    assert found["mean"] == pytest.approx(0.7)
    assert found["se"] == pytest.approx(np.sqrt(0.02 / 2 + 0.02 / 2) / 2)


def test_the_tables_are_of_the_rows_and_in_the_files(study, tmp_path):
    runs = study.frame()
    last = runs[(runs.trials == 6) & (runs.tuned_parameters == ONE_GAMMA)]
    row = study.table().iloc[0]
    assert row["after 6"] == pytest.approx(100 * last.optimism.mean())
    assert row["se"] == pytest.approx(100 * last.optimism.std(ddof=1) / np.sqrt(2))
    gain, real = spent_on_luck(runs, ONE_GAMMA)
    assert row["gain of tuned"] == pytest.approx(gain)
    assert row["gain of held-out"] == pytest.approx(real)
    # what the optimism has grown by is what the tuned score has gained and new rows have not
    assert row["after 6"] - row["after 1"] == pytest.approx(gain - real)
    best, risen = best_on_new_rows(runs, ONE_GAMMA)
    assert risen >= real
    assert f"and its maximum {risen:.1f} after {best} trials" in study.conclusion()
    assert by_trials(runs, ["tuned_parameters", "set", "parameters"]).shape[0] == 2
    assert f"{row['after 6']:.1f} (random)" in study.conclusion()
    names = [file.name for file in study.write(tmp_path)]
    assert {"oversearching_runs.csv", "oversearching_by_rows.csv", "oversearching_by_set.csv", "oversearching.png"} <= set(names)
    assert "### By data set" in (tmp_path / "oversearching.md").read_text()
    titles = [panel.get_title() for panel in study.figure().axes]
    assert titles[:2] == ["C, gamma: 2 parameters", "C, a gamma a feature: 31 parameters"]
