import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from installed_command import main
from scipy.stats import uniform

from spotsvm import Study, Trial, load_study
from spotsvm.searches import RandomSearch
from spotsvm.trials.timing import PHASES, time_spent, trials_per_minute

SPACE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}
TIMES = ["ask_seconds", "fit_seconds", "acquisition_seconds", "seconds"]


def bowl(params):
    return params["x"] ** 2 + params["y"] ** 2


def test_parts_of_asking_and_evaluation():
    trials = [
        Trial(0, {}, (), "ok", 1.0, ask_seconds=0.5, seconds=3.0),
        Trial(1, {}, (), "failed", ask_seconds=1.0, fit_seconds=0.5, acquisition_seconds=0.25, seconds=5.0),
        Trial(2, {}, (), "running", ask_seconds=4.0, fit_seconds=1.0, acquisition_seconds=1.0),
    ]
    assert {phase: (s.total, s.median, s.last, s.n_trials) for phase, s in time_spent(trials).items()} == {
        "fit": (1.5, 0.75, 1.0, 2),
        "acquisition": (1.25, 0.625, 1.0, 2),
        "asking": (2.75, 0.5, 2.0, 3),
        "evaluation": (8.0, 4.0, 5.0, 2),
    }
    assert list(time_spent(trials)) == list(PHASES)
    # a phase that no trial has is left out, and rounding makes nothing negative
    assert time_spent([]) == {}
    assert list(time_spent([Trial(0, {}, (), "ok", 1.0, seconds=1.0)])) == ["evaluation"]
    rounded = Trial(0, {}, (), ask_seconds=0.3, fit_seconds=0.1, acquisition_seconds=0.2000001)
    assert time_spent([rounded])["asking"].total == 0.0


def test_a_search_with_a_model_says_what_fit_and_acquisition_cost():
    frame = Study(SPACE, "kriging", 0).run(bowl, n_trials=9).frame()
    by_model = frame["origin"] == "improvement"
    assert by_model.sum() >= 2
    parts = frame[["fit_seconds", "acquisition_seconds"]]
    assert (parts[by_model] > 0).all(axis=None)
    assert parts[~by_model].isna().all(axis=None)
    assert (parts.sum(axis=1) <= frame["ask_seconds"]).all()
    assert (frame["seconds"] >= 0).all()
    for search in ("cmaes", RandomSearch):  # which have no model
        frame = Study(SPACE, search, 0).run(bowl, n_trials=8).frame()
        assert (frame["ask_seconds"] > 0).all()
        assert frame[["fit_seconds", "acquisition_seconds"]].isna().all(axis=None)


def test_times_survive_a_resume_and_are_the_same_in_frame_csv_export_and_report(tmp_path):
    path = tmp_path / "a.db"
    with Study(SPACE, "kriging", 0, path=path) as study:
        study.run(bowl, n_trials=8)
        before = study.frame()[TIMES]
        when = [(t.asked_at, t.told_at) for t in study.trials]
    with Study(SPACE, "kriging", 0, path=path) as study:
        assert [(t.asked_at, t.told_at) for t in study.trials] == when
        study.run(bowl, n_trials=10)
        frame, spent = study.frame(), time_spent(study.trials)
        study.to_csv(tmp_path / "a.csv")
    pd.testing.assert_frame_equal(frame[TIMES].head(8), before)
    assert frame.loc[8:, TIMES].notna().all(axis=None)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "a.csv")[TIMES], frame[TIMES])
    assert CliRunner().invoke(main, ["export", str(path), "--csv", str(tmp_path / "b.csv")]).exit_code == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "b.csv")[TIMES], frame[TIMES])
    read = load_study(path)
    pd.testing.assert_frame_equal(read.frame()[TIMES], frame[TIMES])
    assert read.status().time_spent == spent
    read.report(tmp_path / "a.html", tables=tmp_path / "tables")
    tables = [pd.read_csv(file) for file in sorted((tmp_path / "tables").glob("*.csv"))]
    [shown] = [table for table in tables if "spent in" in table.columns]
    assert list(shown["spent in"]) == list(PHASES.values())
    assert list(shown["total"]) == pytest.approx([spent[phase].total for phase in PHASES])
    assert list(shown["trials"]) == [spent[phase].n_trials for phase in PHASES]
    assert any("model, s" in table.columns for table in tables)


def told(asked, at, seconds=None, ask=0.0):
    return Trial(
        0, {}, (), "ok", 1.0, ask_seconds=ask, seconds=at - asked if seconds is None else seconds, asked_at=asked, told_at=at
    )


ONE_BY_ONE = [told(k, k + 1.0) for k in range(10)]


@pytest.mark.parametrize(
    ("trials", "pace"),
    [
        (ONE_BY_ONE, 60),
        ([told(2.0 * k, 2.0 * k + 1, ask=1.0) for k in range(10)], 30),
        ([told(k // 2, k // 2 + 1.0) for k in range(10)], 120),
        ([told(4 * batch, 4 * batch + k + 1.0, seconds=1.0) for batch in range(3) for k in range(4)], 60),
        ([*ONE_BY_ONE, told(5.0, 9e5, seconds=1.0), *(told(9e5 + k, 9e5 + k + 1.0) for k in range(10))], 60),
        ([told(100.0 * k, 100.0 * k + 100) for k in range(100)] + [told(10000.0 + k, 10001.0 + k) for k in range(50)], 60),
        ([], None),
        ([Trial(0, {}, (), "ok", 1.0, seconds=3.0), Trial(1, {}, (), asked_at=1.0)], None),
        ([told(1.0, 1.0)], None),
    ],
    ids=["one by one", "asking", "two at once", "batches", "a break", "only the latest", "none", "no times", "no time spent"],
)
def test_the_pace(trials, pace):
    assert trials_per_minute(trials) == (pace and pytest.approx(pace))


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=5))
def test_numbers_of_a_damaged_record_are_a_pace_or_none(rows):
    found = trials_per_minute([told(*row) for row in rows])
    assert found is None or 0 < found < float("inf")
