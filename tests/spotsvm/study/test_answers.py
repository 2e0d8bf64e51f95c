"""Trials that carry an array: the answers for rows that an objective returns beside its value."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import uniform

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, StorageError
from spotsvm.study.record.salvage import salvage
from tests.spotsvm.study.record.records import change, edit

SPACE = {"x": uniform(0, 1), "y": [1, 2, 4]}
AWKWARD = np.array([[np.nan, -0.0], [np.inf, 5e-324], [-1.7e300, 1 / 3]])


def objective(params):
    return {"value": params["x"], "answers": AWKWARD * params["y"], "time": 1.0, "who": "me"}


def swept(params):
    return {y: {"value": params["x"] + y, "answers": np.full((3, 2), y, dtype=np.float32)} for y in (4, 1, 2)}


def same(one, other):
    """Return whether two arrays are the same to the last bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def answers_of(study):
    return [None if t.answers is None else (t.answers.dtype, t.answers.shape, t.answers.tobytes()) for t in study.trials]


def test_answers_are_with_the_trial_and_in_no_table(tmp_path):
    study = Study(SPACE, "random", 0).run(objective, 3)
    for trial in study.trials:
        assert same(trial.answers, AWKWARD * trial.params["y"])
        assert (trial.extra, trial.attributes) == ({"time": 1.0}, {"who": "me"})
        assert "answers" not in repr(trial)
    with pytest.raises(ValueError, match="read-only"):
        study.trials[0].answers[0, 0] = 1.0
    assert not [column for column in study.frame() if "answers" in column]
    study.to_csv(tmp_path / "trials.csv")
    assert "answers" not in (tmp_path / "trials.csv").read_text()
    assert "answers" not in study.report(tmp_path / "report.html").read_text()


def test_what_is_returned_is_copied_and_a_vector_is_a_column():
    given, study = np.arange(3), Study(SPACE, "random", 0)
    told = study.tell(study.ask(), {"value": 0.5, "answers": given})
    given[0] = 7
    assert told.answers.tolist() == [[0.0], [1.0], [2.0]]
    told = study.tell(study.ask(), {"value": np.nan, "answers": np.eye(2, dtype=np.float16)})
    assert (told.state, told.answers.dtype, told.answers.tolist()) == ("failed", np.float32, [[1, 0], [0, 1]])
    assert study.add_trial({"x": 0.5, "y": 1}, {"value": 0.5, "answers": np.zeros((0, 2))}).answers.shape == (0, 2)
    assert study.fail(study.ask(), "no").answers is None


@pytest.mark.parametrize("given", [[1.0, 2.0], 3.0, "text", np.array("a"), np.zeros((1, 1, 1)), np.array([1j]), np.array([None])])
def test_what_is_no_array_of_numbers_for_rows_stays_what_it_was(given):
    study = Study(SPACE, "random", 0)
    told = study.tell(study.ask(), {"value": 0.5, "answers": given})
    assert told.answers is None
    assert "answers" in {**told.attributes, **told.extra}


@settings(max_examples=25, deadline=None)
@given(arrays.arrays(st.sampled_from(["<f4", "<f8", ">f8"]), arrays.array_shapes(max_dims=2), elements={"allow_nan": True}))
def test_any_array_is_read_back_bit_for_bit(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("study") / "s.db"
    with Study(SPACE, "random", 0, path=path) as study:
        told = study.tell(study.ask(), {"value": 0.5, "answers": array})
    with Study(SPACE, "random", 0, path=path) as again:
        assert same(again.trials[0].answers, told.answers)
    assert np.array_equal(told.answers.reshape(array.shape), array, equal_nan=True)


@pytest.mark.parametrize(("returned", "options"), [(objective, {}), (swept, {"sweep": "y"})], ids=["one", "sweep"])
def test_a_resumed_study_has_the_same_answers(returned, options, tmp_path):
    path, whole = tmp_path / "s.db", Study(SPACE, "random", 0, **options).run(returned, 6)
    with Study(SPACE, "random", 0, path=path, **options) as study:
        study.run(returned, 3)
    with Study(SPACE, "random", 0, path=path, **options) as study:
        study.run(returned, 6)
        assert answers_of(study) == answers_of(whole)
    assert answers_of(load_study(path)) == answers_of(whole)
    assert answers_of(salvage(path)) == answers_of(whole)
    if options:
        assert all((t.answers == t.params["y"]).all() for t in whole.trials)


def test_answers_that_arrive_before_their_turn_wait_in_the_record(tmp_path):
    path, calls = tmp_path / "s.db", []

    def interrupted(params):
        calls.append(params)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return objective(params)

    with Study(SPACE, "random", 0, path=path) as study, pytest.raises(KeyboardInterrupt):
        study.run(interrupted, 6, batch_size=3)
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(objective, 6, batch_size=3)
    assert answers_of(study) == answers_of(Study(SPACE, "random", 0).run(objective, 6))


def test_a_trial_that_ends_early_keeps_its_answers():
    def learning(params, trial):
        for step in range(4):
            trial.report(step, params["x"])
            if trial.should_stop():
                break
        return {"value": params["x"], "answers": np.full(3, params["x"])}

    study = Study(SPACE, "random", 0).run(learning, 8, early_stopping=lambda trial: "enough" if trial.number == 5 else None)
    assert [(t.state, t.answers[0, 0]) for t in study.trials] == [
        ("stopped" if t.number == 5 else "ok", t.params["x"]) for t in study.trials
    ]


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_answers_come_from_other_workers_too(workers):
    def here(params):  # in this function, so that its code goes along: other processes cannot import the tests
        return {"value": params["x"], "answers": np.array([[np.nan, -0.0], [np.inf, params["y"]]])}

    alone = Study(SPACE, "random", 0).run(here, 4)
    with ThreadPoolExecutor(2) as executor:
        options = {"executor": executor} if workers == "threads" else {"n_jobs": 2}
        assert answers_of(Study(SPACE, "random", 0).run(here, 4, batch_size=2, **options)) == answers_of(alone)


def test_more_answers_than_a_trial_keeps_are_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr("spotsvm.trials.judging.MOST_ANSWERS", 60)
    study = Study(SPACE, "random", 0)
    said = r"the objective returned answers of 80 bytes, and a trial keeps at most 60; return them as float32, or leave them out"
    with pytest.raises(ArgumentError, match=said):
        study.tell(study.ask(), {"value": 0.5, "answers": np.zeros(10)})
    assert (study.trials[0].state, study.trials[0].answers) == ("failed", None)
    assert study.tell(study.ask(), {"value": 0.5, "answers": np.zeros(10, dtype=np.float32)}).state == "ok"
    sweeping = Study(SPACE, "random", 0, sweep="y")
    with pytest.raises(ArgumentError, match="answers of 72 bytes"):
        sweeping.tell(sweeping.ask(), swept({"x": 0.5}))


@pytest.mark.parametrize("arrays", ["zeroblob(48)", "NULL"])
def test_answers_that_have_changed_are_not_read(arrays, tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study:
        study.run(objective, 3)
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        (before,) = connection.execute("SELECT arrays FROM events WHERE number = 1 AND kind = 'told'").fetchone()
        assert before == study.trials[1].answers.tobytes()
    change(tmp_path / "s.db", f"UPDATE events SET arrays = {arrays} WHERE number = 1 AND kind = 'told'")
    with pytest.raises(StorageError, match="its checksum does not match its content"):
        load_study(tmp_path / "s.db")
    assert [t.number for t in salvage(tmp_path / "s.db").trials] == [0, 2]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (["<f8", 3, 3], "its answers have 48 bytes, not 72"),
        (["<f4", 3, 2], "its arrays have 24 bytes too many"),
        (["<f8", -3, -2], "not a type and a shape"),
        (["<f8", 10**15, 10**15], "its answers have 48 bytes"),
        (["|O", 3, 2], "not a type and a shape"),
        (["<f8", True, 6], "not a type and a shape"),
        ([], "not a type and a shape"),
        ({"a": 1}, "its answers is a mapping of 1"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shape, said, tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study:
        study.run(objective, 2)
    edit(tmp_path / "s.db", "told", lambda told: told["outcome"].update(answers=shape), number=1)
    with pytest.raises(StorageError, match=said):
        load_study(tmp_path / "s.db")
