import math
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from completed_trials import SQUARE as SPACE

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, FirstTrialsFailedError, NoCompletedTrialError


def broken(params):
    return undefined_name(params)  # noqa: F821


def deep(params):
    raise ValueError(f"no such thing as {params['x']}")


def test_a_run_ends_with_the_reason_that_its_first_five_trials_share():
    study = Study(SPACE, "random", 0)
    with pytest.raises(FirstTrialsFailedError) as caught:
        study.run(broken, 30)
    said = str(caught.value)
    assert said.startswith(
        "The first 5 trials failed for the same reason: NameError: name 'undefined_name' is not defined (test_"
    )
    assert said.endswith("; with max_failures=None the run goes on all the same")
    assert "return undefined_name(params)" in caught.value.__notes__[0]
    assert isinstance(caught.value.__cause__, NameError)
    assert isinstance(caught.value, NoCompletedTrialError)
    assert (study.n_finished, len(study.trials)) == (5, 5)


@pytest.mark.parametrize("options", [{"n_jobs": 1, "trial_timeout": 30.0}, {"executor": "threading", "n_jobs": 2}])
def test_tracebacks_come_from_workers_too(options):
    def fails(params):
        return undefined_name(params)  # noqa: F821

    study = Study(SPACE, "random", 0)
    with pytest.raises(FirstTrialsFailedError) as caught:
        study.run(fails, 30, max_failures=2, **options)
    # without the line of code in a process: cloudpickle 3.1.3 does not send the name of the file
    assert ", in fails\n" in caught.value.__notes__[0]
    assert "NameError: name 'undefined_name' is not defined" in caught.value.__notes__[0]
    assert all("NameError" in t.traceback and t.error_type == "NameError" for t in study.trials if t.state == "failed")


def test_reasons_that_differ_in_numbers_alone_are_the_same_and_others_are_not():
    with pytest.raises(FirstTrialsFailedError, match="no such thing as 0"):
        Study(SPACE, "random", 0).run(deep, 30)
    kinds = iter("ab" * 10)

    def either(params):
        raise ValueError(next(kinds))

    study = Study(SPACE, "random", 0)
    with pytest.raises(
        FirstTrialsFailedError, match="^All 20 trials of the run failed: 10 x ValueError: a .*; 10 x ValueError: b"
    ):
        study.run(either, 20)
    assert study.n_finished == 20


def test_what_ends_no_run():
    assert Study(SPACE, "random", 0).run(broken, 12, max_failures=None).n_finished == 12
    values = iter([math.nan] * 4 + [1.0] + [math.nan] * 10)
    study = Study(SPACE, "random", 0).run(lambda p: next(values), 15)
    assert study.n_finished == 15, "one trial has succeeded"
    assert study.run(broken, 25).n_finished == 25, "as has one of an earlier run"
    with pytest.raises(FirstTrialsFailedError, match="^The first trial failed: the objective returned nan; with"):
        Study(SPACE, "random", 0).run(lambda p: math.nan, 15, max_failures=1)


def test_a_run_that_goes_on_may_fail_as_often_again(tmp_path):
    for n in (5, 10):
        with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
            with pytest.raises(FirstTrialsFailedError):
                study.run(broken, 30)
            assert study.n_finished == n
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        assert study.run(lambda p: p["x"], 30).n_finished == 30


def test_a_batch_that_fails_leaves_the_rest_of_it_to_the_next_run():
    study = Study(SPACE, "random", 0)
    with ThreadPoolExecutor(2) as executor, pytest.raises(FirstTrialsFailedError):
        study.run(broken, 30, executor, batch_size=8)
    assert study.n_finished == 5
    assert [t.params for t in study.run(lambda p: 0.0, 12).trials] == [
        t.params for t in Study(SPACE, "random", 0).run(lambda p: 0.0, 12, batch_size=8).trials
    ]


@pytest.mark.parametrize("executor", [None, "threading"])
def test_none_is_an_error_at_once(executor):
    study = Study(SPACE, "random", 0)
    with pytest.raises(ArgumentError, match="the objective returned None; return a number, or a mapping with 'value' and"):
        study.run(lambda p: None, 30, executor, n_jobs=1)
    assert [t.state for t in study.trials] == ["failed"]
    path = Study({**SPACE, "z": SPACE["x"]}, "random", 0, sweep="z")
    with pytest.raises(ArgumentError, match="the objective returned None; with sweep='z' it returns a mapping"):
        path.run(lambda p: None, 30)
    with pytest.raises(ArgumentError, match="the objective returned None;"):
        study.tell(study.ask(), None)


def test_tracebacks_are_in_the_record_and_bounded(tmp_path):
    def long(params):
        raise ValueError("a" * 10_000 + "\udcff the end" if params["x"] < 0.5 else sys.getdefaultencoding())

    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        study.run(long, 10, max_failures=None)
    assert {len(t.traceback) > 2000 for t in study.trials} == {True, False}
    for t in study.trials:
        assert t.traceback.startswith("Traceback (most recent call last):\n  File")
        assert "test_fail_fast.py" in t.traceback
        assert len(t.traceback) < 4000
        assert t.traceback.endswith(("the end", "utf-8"))
    read = load_study(tmp_path / "r.db")
    assert [t.traceback for t in read.trials] == [t.traceback for t in study.trials]
    assert {t.error_type for t in read.trials} == {"ValueError"}
    assert list(read.frame()["error_type"]) == [t.error_type for t in study.trials]
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as again:
        assert again.trials == study.trials


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "5"])
def test_what_is_no_number_of_trials_is_refused(most):
    with pytest.raises(ArgumentError, match=r"max_failures=.* is not a number of trials; use 1 or more, or None"):
        Study(SPACE, "random", 0).run(broken, 30, max_failures=most)
