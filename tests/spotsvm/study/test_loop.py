import math
import re
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import bowl, facts
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError, BudgetError


def partly(params):
    """Fails in every way that an objective can fail."""
    kind = int(8 * params["x"])
    if kind == 0:
        raise ValueError("too small\nby far")
    return [None, math.nan, math.inf, [], "text", {"score": 1.0}, {"value": bowl(params), "time": 2}, bowl(params)][kind]


def test_it_stops_at_the_budget_and_goes_on_from_there():
    study = Study(SPACE, "random", 0)
    assert study.run(bowl, 4) is study
    with pytest.warns(UserWarning, match="4 of 4 trials exist already"):
        assert study.run(bowl, 4).n_finished == 4
    assert study.run(bowl, np.int64(9), batch_size=np.int64(1)).n_finished == 9
    assert facts(study) == facts(Study(SPACE, "random", 0).run(bowl, 9))


@pytest.mark.parametrize(
    ("search", "batch_size", "kind"),
    [("kriging", 3, ThreadPoolExecutor), ("cmaes", 3, ProcessPoolExecutor), ("cmaes", 1, ThreadPoolExecutor)],
)
def test_where_it_is_evaluated_changes_nothing(search, batch_size, kind):
    here = Study(SPACE, search, 3).run(partly, 13, batch_size=batch_size)
    with kind(2) as executor:
        there = Study(SPACE, search, 3).run(partly, 13, executor, batch_size=batch_size)
    assert facts(there) == facts(here)


@pytest.mark.parametrize(("search", "executor"), [("kriging", partial(ThreadPoolExecutor, 1)), ("cmaes", lambda: "threading")])
def test_one_worker_makes_the_trials_of_none(search, executor):
    study = Study(SPACE, search, 3).run(partly, 13, executor(), n_jobs=1)
    assert facts(study) == facts(Study(SPACE, search, 3).run(partly, 13))
    assert study.about["batch_size"] == 1


@pytest.mark.parametrize(("search", "sizes"), [("cmaes", [6, 6, 6]), ("lbfgsb", [6, 1, 2, 1])])
def test_what_a_search_has_ready_comes_out_the_same_together_and_one_by_one(search, sizes):
    together, asked = Study(SPACE, search, 3), []
    while together.n_finished < 18:
        asked.append(min(together._books.search.n_foreseen, 18 - together.n_finished))
        for trial in together.ask_batch(asked[-1]):
            together.tell(trial, bowl(trial.params))
    assert asked[: len(sizes)] == sizes
    # no point of what is ready depends on a value that is not told: the order of telling is all that differs
    assert facts(Study(SPACE, search, 3).run(bowl, 18)) == facts(together)


@pytest.mark.parametrize(("search", "n_asked"), [("cmaes", 5), ("lbfgsb", 6)])
def test_a_plan_that_was_cut_off_while_it_was_asked_for_is_evaluated_as_if_it_had_not_been(search, n_asked, tmp_path):
    whole = Study(SPACE, search, 3).run(bowl, 18)
    with Study(SPACE, search, 3, path=tmp_path / "study.db") as study:
        for _ in range(n_asked):
            study.ask()
    with ThreadPoolExecutor(1) as executor, Study(SPACE, search, 3, path=tmp_path / "study.db") as study:
        assert facts(study.run(bowl, 18, executor)) == facts(whole)


def test_a_batch_is_evaluated_at_once():
    together = threading.Barrier(3, timeout=10)

    def objective(params):
        together.wait()
        return bowl(params)

    with ThreadPoolExecutor(3) as executor:
        study = Study(SPACE, "random", 0).run(objective, 6, executor)
    assert [t.state for t in study.trials] == ["ok"] * 6


def test_failures_are_recorded_and_the_study_goes_on():
    study = Study(SPACE, "random", 1).run(partly, 60)
    failed = [t for t in study.trials if t.state == "failed"]
    assert {t.reason.split(" (")[0] for t in failed} == {
        "ValueError: too small by far",
        "the objective returned nan",
        "the objective returned inf",
        "the objective returned [], which is not a number",
        "the objective returned 'text', which is not a number",
        "the objective returned a mapping without 'value', or 'values' of several objectives",
    }
    assert all(t.value is None and "\n" not in t.reason for t in failed)
    assert study.n_finished == 60
    assert {t.extra.get("time") for t in study.trials} == {None, 2.0}
    assert study.recommend().value == min(t.value for t in study.trials if t.value is not None)
    for search in ("kriging", "random"):
        none = Study(SPACE, search, 0).run(lambda p: math.nan, 9, max_failures=None)
        assert [t.state for t in none.trials] == ["failed"] * 9


@pytest.mark.parametrize("where", ["here", "threads", "processes", "killable"])
def test_errors_are_raised_if_wanted_once_they_are_recorded(where):
    study = Study(SPACE, "random", 1)
    executor = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor}.get(where, lambda n: None)(2)
    fails = partly if where in ("processes", "threads") else lambda p: {}["gamma"] if p["x"] < 0.5 else 1.0
    with pytest.raises((KeyError, ValueError)):
        study.run(fails, 40, executor, raise_errors=True, batch_size=2, trial_timeout=30.0 if where == "killable" else None)
    raised = [t for t in study.trials if "Error: " in t.reason]
    assert len(raised) == 1
    assert raised[0].number == study.n_finished - 1
    if executor:
        executor.shutdown()


NINE = {f"x{j}": uniform(0, 1) for j in range(9)}


@pytest.mark.parametrize(("search", "space", "n_trials"), [("kriging", SPACE, 3), ("lbfgsb", SPACE, 1), ("cmaes", NINE, 1)])
def test_a_budget_below_the_design_or_a_generation_evaluates_the_first_of_it(search, space, n_trials, tmp_path, no_pictures):
    def study(path=None):
        return Study(space, search, 0, path=path)

    def value(params):
        return sum(v for v in params.values() if isinstance(v, float))

    whole = study()
    n = whole._books.n_initial + 2
    whole.run(value, n)
    with study(tmp_path / "s.db") as first:
        assert first.run(value, n_trials).n_finished == n_trials
        assert first.recommend().number in range(n_trials)
        first.report(tmp_path / "s.html")
    with study(tmp_path / "s.db") as again:
        again.run(value, n)
    assert [t.params for t in again.trials] == [t.params for t in whole.trials]


@pytest.mark.parametrize("n_trials", [0, -1])
def test_a_run_has_a_trial_at_least(n_trials):
    with pytest.raises(BudgetError, match=f"n_trials={n_trials} is not a number of trials; use 1 or more"):
        Study(SPACE, "kriging", 0).run(lambda p: 1.0, n_trials)


def test_a_small_space_needs_no_more_than_its_size():
    small = Study({"a": [1, 2, 3]}, "kriging", 0, noise=False)
    assert small.run(lambda p: p["a"], 3).best_trial.params == {"a": 1}


@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_space_that_is_used_up_ends_the_run_with_a_warning(batch_size, caplog):
    study = Study({"a": [1, 2, 3], "b": ["x", "y"]}, "random", 0)
    study.run(lambda p: p["a"], 20, batch_size=batch_size)
    assert study.n_finished == 6
    assert len({tuple(t.params.items()) for t in study.trials}) == 6
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "the study ends with 6 trials: all 6 configurations of the space have been asked for" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch_size": 0}, "batch_size=0 is not a number of trials"),
        *(({"batch_size": size}, f"batch_size={size!r}") for size in (-2, 1.5, "2", True)),
        ({"retries": -1}, "retries=-1 is not a number of further attempts"),
        ({"retries": 1.5}, "retries=1.5"),
        *(({"n_trials": n}, "n_trials=.* is not a number of trials; use a whole number$") for n in ("5", None, 2.5, [5], True)),
        ({"trial_timeout": 0}, "trial_timeout=0 is not a time"),
        *(({"trial_timeout": s}, re.escape(f"trial_timeout={s!r}")) for s in (-1, "1", math.nan, math.inf, 1e300, True)),
    ],
)
def test_bad_arguments_are_named_with_their_value(options, said):
    study = Study(SPACE, "random", 0)
    with pytest.raises(ArgumentError, match=said):
        study.run(bowl, **{"n_trials": 3} | options)
    assert study.trials == ()


@pytest.mark.parametrize("of_the_study", [True, False])
def test_a_trial_past_its_time_is_ended(of_the_study):
    def slow(params):
        if params["x"] > 0.6:
            time.sleep(30)
        return params["x"]

    options = {"trial_timeout": 0.7}
    study = Study(SPACE, "random", 0, **(options if of_the_study else {}))
    study.run(slow, 3, batch_size=3, **({} if of_the_study else options))
    late = [t.params["x"] > 0.6 for t in study.trials]
    assert 0 < sum(late) < 3
    assert [t.state for t in study.trials] == ["timeout" if is_late else "ok" for is_late in late]
    assert {t.reason for t in study.trials if t.state == "timeout"} == {"it took longer than trial_timeout=0.7 s"}
    assert {t.seconds for t in study.trials if t.state == "timeout"} == {0.7}
