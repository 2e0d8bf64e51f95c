"""The runs of the acid study: each tuner from each seed, and what it recommends after each budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from spotsvm.comparison_entrants import Entrant
from spotsvm.comparison_run import Run, Task, run_search
from spotsvm.progress import runs_bar
from spotsvm.recommendation import recommend
from spotsvm.space import Space
from studies.acid_task import DEFAULT, AcidTask, acid_space
from studies.data_folder import data_folder, data_from

UNTUNED = "default"


def acid_runs(
    task: AcidTask,
    region: str,
    searches: Mapping[str, Entrant],
    budgets: Sequence[int],
    seeds: Sequence[int],
    *,
    n_jobs: int | None,
    path: Path | None,
) -> pd.DataFrame:
    """Run all tuners from all seeds, and give a row a tuner, seed and budget, and one for the default settings.

    A search does not know its budget: the first 25 of 100 design points are what a budget of 25 gives.

    Columns: tuner, seed, budget; tuned (the best value seen), predicted (what the model expects of the recommended trial), test
    (of the recommended trial, trained on all training rows), test_best_seen; recommended and best_seen (numbers of trials),
    failed, ask_seconds (mean time of a suggestion); and the recommended parameters.
    """
    shared = Task(task, Space(acid_space(region)), max(budgets), "maximize", noise=True, folder=path)
    folder = data_folder()
    rows: list[dict[str, Any]] = [{"tuner": UNTUNED, "seed": -1, "budget": 0, "test": task.test(DEFAULT)}]
    with runs_bar(f"acid, {task.source}", len(seeds)) as ended:
        # a seed's tuners together, for their n-th trials share the splits and all that follows from these
        jobs = (delayed(_runs_from_seed)(shared, searches, seed, budgets, folder) for seed in seeds)
        for found, last in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            rows += found
            ended(last)
    return pd.DataFrame(rows)


def _runs_from_seed(
    shared: Task, searches: Mapping[str, Entrant], seed: int, budgets: Sequence[int], folder: Path | None
) -> tuple[list[dict[str, Any]], Run]:
    rows: list[dict[str, Any]] = []
    with data_from(folder):
        for label, search in searches.items():
            run = run_search(shared, label, search, seed)
            rows += budget_rows(run, shared, budgets)
    return rows, run


def budget_rows(run: Run, shared: Task, budgets: Sequence[int]) -> list[dict[str, Any]]:
    """Give what a run would have recommended after each budget, and its score on the test rows."""
    tested: dict[int, float] = {}
    rows = []
    for budget in budgets:
        trials = run.trials[:budget]
        chosen = recommend(trials, shared.space.domain, sign=-1.0, noise=True, seed=run.seed)
        for number, params in ((chosen.number, chosen.params), (chosen.best_seen_number, chosen.best_seen_params)):
            if number not in tested:
                tested[number] = shared.objective.test(params)  # type: ignore[attr-defined]
        rows.append(
            {
                "tuner": run.search,
                "seed": run.seed,
                "budget": budget,
                "tuned": chosen.best_seen_value,
                "predicted": chosen.value,
                "test": tested[chosen.number],
                "test_best_seen": tested[chosen.best_seen_number],
                "recommended": chosen.number,
                "best_seen": chosen.best_seen_number,
                "failed": sum(t.state != "ok" for t in trials),
                "ask_seconds": sum(t.ask_seconds or 0.0 for t in trials) / budget,
                **chosen.params,
            }
        )
    return rows
