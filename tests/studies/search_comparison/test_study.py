import numpy as np
import pandas as pd
import pytest

from spotsvm import Space
from spotsvm.errors import BudgetError, DataError
from spotsvm.studies.search_comparison.results import by_task, draw_tasks, findings, with_regret, worse_than_random
from spotsvm.studies.search_comparison.study import SearchComparisonStudy
from spotsvm.studies.tasks.tasks import TASKS as ALL_TASKS
from spotsvm.studies.tasks.tasks import SyntheticFunction, make_tasks
from spotsvm.study.given import equal_start, starts

SEARCHES = ("kriging", "lhs", "random")
TASKS = ("branin", "branin_noisy", "svc_rbf_sonar")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SPOTSVM_DATA", raising=False)
        return SearchComparisonStudy(quick=True, n_trials=12, searches=SEARCHES, tasks=TASKS).run()


def test_rows_are_the_comparisons_which_begin_alike(quick):
    runs = quick.frame()
    assert len(runs) == 2 * 3 * 2 * 3
    assert runs.evaluations.unique().tolist() == quick.checkpoints == [3, 6, 12]
    plain = runs[runs.task == "branin"].pivot(index=["search", "seed"], columns="evaluations", values="result")
    assert (plain[12] <= plain[6]).all()
    assert (plain[6] <= plain[3]).all()
    assert (plain[12] >= 0.397887).all()
    for task, comparison in quick.comparisons.items():
        first = comparison.frame().query("number == 0").groupby("seed")
        assert (first["value"].nunique() == 1).all(), task
        assert (first["origin"].unique().map(list) == pd.Series([["start"]] * 2)).all()
    for task, comparison in quick.comparisons.items():
        for n in quick.checkpoints:
            rows = runs[(runs.task == task) & (runs.evaluations == n)]
            results = rows.pivot(index="seed", columns="search", values="result")[list(SEARCHES)]
            assert (results == comparison.after(n).results()).all(axis=None)
            ranks = rows.pivot(index="seed", columns="search", values="rank")[list(SEARCHES)]
            assert (ranks == comparison.after(n).ranks()).all(axis=None)


def test_what_is_left_out_is_named_and_files_are_written(quick, tmp_path):
    assert list(quick.left_out) == ["svc_rbf_sonar"]
    row = quick.by_task().iloc[-1]
    assert row.task == "svc_rbf_sonar"
    assert row.note.startswith("left out: the study needs the data set 'sonar': set SPOTSVM_DATA")
    assert "left out: the study needs" in quick.to_markdown()
    assert quick.conclusion().endswith("Left out, because their data are missing: svc_rbf_sonar.")
    files = quick.write(tmp_path)
    assert [f.name for f in files] == [
        *("search_comparison_runs.csv", "search_comparison_table.csv", "search_comparison.md"),
        *("search_comparison_by_task.csv", "search_comparison.png", "search_comparison.html"),
    ]
    assert files[4].read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv(files[3])) == 2 * 3 * 3 + 1
    figure = draw_tasks(quick.comparisons, make_tasks(tuple(quick.comparisons))[0])
    assert figure.get_supxlabel() == "evaluations (median and quartiles of 2 seeds)"
    assert [panel.get_title() for panel in figure.axes] == list(quick.comparisons)


def test_a_budget_too_small_for_one_task_costs_no_evaluation_of_another(monkeypatch):
    monkeypatch.setattr(SearchComparisonStudy, "_compare", lambda self, task: pytest.fail(f"{task.name} was evaluated"))
    with pytest.raises(BudgetError, match="task 'hartmann6': search 'cmaes': n_trials=8 is below the first generation of 9"):
        SearchComparisonStudy(n_trials=8, searches=("cmaes", "random"), tasks=("branin", "hartmann6")).run()


def test_without_any_data_there_is_no_study(monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    with pytest.raises(DataError, match="no task can be made"):
        SearchComparisonStudy(searches=("random",), tasks=("svc_rbf_sonar",)).run()


def measured():
    """Return two tasks, two seeds, 10 evaluations, with results by hand."""
    results = {
        "easy": {"random": [3.0, 5.0], "good": [2.0, 1.0], "bad": [9.0, 7.0]},
        "hard": {"random": [1.0, 1.0], "good": [1.0, 1.0], "bad": [1.0, 2.0]},
    }
    rows = [
        {"task": task, "evaluations": 10, "search": search, "seed": seed, "result": value, "rank": 1.0 + k, "best_known": 1.0}
        for task, searches in results.items()
        for k, (search, values) in enumerate(searches.items())
        for seed, value in enumerate(values)
    ]
    return with_regret(pd.DataFrame(rows).assign(failed=0, ask_seconds=0.002))


def test_tables_and_regret_by_hand():
    regret = measured().set_index(["task", "search", "seed"])["regret"]
    assert regret["easy"].to_numpy() == pytest.approx([2 / 3, 4 / 3, 1 / 3, 0.0, 8 / 3, 2.0])
    # random search has reached the best known: no unit to measure in
    assert regret["hard"].isna().all()
    runs = measured()
    tasks = by_task(runs).set_index(["task", "search"])
    assert tasks.loc[("easy", "bad"), ["best", "mean", "median", "worst"]].tolist() == [7.0, 8.0, 8.0, 9.0]
    assert tasks.loc[("easy", "bad"), "sd"] == pytest.approx(np.sqrt(2))
    table = findings(runs).set_index("search")
    assert table.index.tolist() == ["random", "good", "bad"]
    assert table["regret 10"].to_numpy() == pytest.approx([1.0, 1 / 6, 7 / 3])
    assert table["worse than random"].tolist() == [0, 0, 2]
    assert table["better"].tolist() == [0, 1, 0]
    assert table["ms to ask"].to_numpy() == pytest.approx([2.0] * 3)
    assert worse_than_random(runs) == {"good": [], "bad": ["easy", "hard"]}


def test_the_conclusion_says_where_random_search_is_better():
    study = SearchComparisonStudy(searches={"random": "random", "good": "lhs", "bad": "lhs"}, n_trials=10, seeds=2)
    study._frame = measured()
    study.comparisons = dict.fromkeys(("easy", "hard"))
    text = study.conclusion()
    assert "after 10 evaluations on 2 tasks: 1.00 by random, 0.17 by good, 2.33 by bad." in text
    assert "Worse than random search in the median of the 2 seeds: bad on easy, hard." in text
    study._frame = study._frame[study._frame.search != "bad"]
    assert "No search is worse than random search" in study.conclusion()


def test_every_machine_has_a_default_in_its_space():
    tasks, left_out = make_tasks()
    for task in tasks:
        machine = not isinstance(task.error, SyntheticFunction)
        assert len(starts(equal_start(task.space, task.default), Space(task.space))) == 1 + machine
    assert {task.name for task in tasks} | set(left_out) == set(ALL_TASKS)
