import numpy as np
import pandas as pd
import pytest

from spotsvm import Study
from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.studies.peers.pending import (
    PendingQualityStudy,
    pending_run,
    quality_table,
    result_after,
)
from spotsvm.studies.tasks.tasks import make_task


def test_one_worker_is_the_sequential_run():
    task = make_task("branin")
    told, _ = pending_run(task, "kriging", 3, q=1, n_trials=12)
    study = Study(task.space, "kriging", 3, start={"x0": 2.5, "x1": 7.5})
    study.run(lambda params: task(params, 0), 12)
    assert [t.point for t in told] == [t.point for t in study.trials]
    assert result_after(task, told, 12, 3) == study.best_trial.value


@pytest.mark.parametrize("q", [1, 3])
def test_all_runs_begin_with_the_default_and_the_centre(q):
    task = make_task("svr_diabetes")
    for search in ("lhs", "random", "vns"):
        told, _ = pending_run(task, search, 0, q=q, n_trials=5)
        first = [t.params for t in sorted(told, key=lambda t: t.number)[:2]]
        assert first == [pytest.approx(task.default), pytest.approx({"C": 2.0**2.5, "gamma": 2.0**-6, "epsilon": 2.0**-4})]


def short(**options):
    return PendingQualityStudy(**({"tasks": ["branin"], "seeds": 2, "q": (1, 3), "n_trials": 8, "searches": ["lhs"]} | options))


def test_all_runs_are_taken_from_the_file_and_regret_and_ratio_follow(tmp_path, monkeypatch):
    path = tmp_path / "jobs.json"
    tasks = ("branin", "branin_noisy")
    first = short(tasks=tasks, path=path).frame()
    assert len(first) == 2 * 2 * 3 * 3  # tasks, seeds, random and lhs with two q, numbers of trials
    monkeypatch.setattr("spotsvm.studies.peers.pending.run_pending", None)
    pd.testing.assert_frame_equal(first, short(tasks=tasks, path=path).frame())
    monkeypatch.undo()
    for name, value in {"n_trials": 12, "spread": 0.0}.items():
        with pytest.raises(DataError, match=f"was written with {name}="):
            short(tasks=tasks, path=path, **{name: value}).run()
    runs = short(seeds=3, q=(1, 2), searches=["random", "lhs"]).frame()
    random = runs[(runs.search == "random") & (runs.trials == 8)]
    assert np.isclose(random.regret.median(), 1.0)
    table = quality_table(runs)
    assert table[["search", "pending"]].to_numpy().tolist() == [["lhs", 1], ["lhs", 2]]
    at = runs[(runs.search == "lhs") & (runs.trials == 8)].pivot(index="seed", columns="pending", values="regret")
    assert np.isclose(table["ratio 8"][1], at[2].mean() / at[1].mean())
    assert np.isclose(table["difference 8"][1], (at[2] - at[1]).median())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"q": (1, 0)}, ArgumentError, r"q=\(1, 0\) are not numbers of workers"),
        ({"n_trials": 3}, BudgetError, "n_trials=3 cannot be halved twice"),
        ({"tasks": ["nonsense"]}, ArgumentError, "'nonsense' is unknown"),
    ],
)
def test_arguments_that_make_no_sense(arguments, error, message):
    with pytest.raises(error, match=message):
        short(**arguments)


def test_the_time_of_suggestions_passes_on_the_virtual_clock_where_it_is_wanted():
    clock = [0.0]
    workers = VirtualWorkers(lambda params: params["x"], 2, lambda params: params["x"], lambda: clock[0])
    for key, x in enumerate([4.0, 2.0]):
        workers.submit(key, {"x": x})
        clock[0] += 1.0
    assert workers.wait(timeout=0) == []
    clock[0] += 1.5
    assert [(key, outcome.value) for key, outcome in workers.wait(timeout=0)] == [(1, 2.0)]
    assert [key for key, _ in workers.wait()] == [0]
    assert workers.now == 4.0
    workers.submit(2, {"x": 1.0})
    assert workers.busy_share() == (4.0 + 2.0) / (2 * 4.0)
