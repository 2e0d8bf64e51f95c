"""The runs of the acid study: each tuner from each seed, and what it recommends after each budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, delayed

from spotsvm.comparison_entrants import Entrant
from spotsvm.comparison_run import Run, Task, run_search
from spotsvm.progress import runs_bar
from spotsvm.recommendation import recommend
from spotsvm.space import Space
from studies.acid.task import AcidTask, acid_space, untuned_svc
from studies.common.data import data_folder, data_from

#: what is not tuned: a machine with balanced weights on the scaled spectra, and the pipeline's default
UNTUNED = ("untuned SVC", "untuned pipeline")


class AcidEntrant(NamedTuple):
    """A tuner, and what it tunes: a region as `acid_space` takes it."""

    search: Entrant
    region: str = "default"


def shared_task(source: str, quick: bool, region: str, n_trials: int, folder: Path | None = None) -> Task:
    """Return what all runs in a region share; they start at the pipeline's defaults."""
    task = AcidTask(source, quick, region)
    path = None if folder is None else folder / f"{source}_{region}"
    return Task(task, Space(acid_space(region)), n_trials, "maximize", noise=True, folder=path, start=task.default)


def acid_runs(
    source: str,
    quick: bool,
    entrants: Mapping[str, AcidEntrant],
    budgets: Sequence[int],
    seeds: Sequence[int],
    *,
    n_jobs: int | None,
    path: Path | None,
) -> pd.DataFrame:
    """Run all tuners from all seeds, and give a row a tuner, seed and budget, and one for each of what is not tuned.

    All begin with the same design points: the pipeline's defaults and the centre of their region. A search does not know its
    budget: the first 25 of 100 design points are what a budget of 25 gives.

    Columns: tuner, region, seed, budget; tuned (the best value seen), predicted (what the model expects of the recommended
    trial), test (of the recommended trial, trained on all training rows), test_best_seen; recommended and best_seen (numbers of
    trials), failed, ask_seconds (mean time of a suggestion); and the recommended parameters.
    """
    regions = {entrant.region for entrant in entrants.values()}
    tasks = {region: shared_task(source, quick, region, max(budgets), path) for region in regions}
    folder = data_folder()
    task = AcidTask(source, quick)
    untuned = dict(zip(UNTUNED, (untuned_svc(task.data), task.test(task.default)), strict=True))
    rows: list[dict[str, Any]] = [{"tuner": name, "seed": -1, "budget": 0, "test": test} for name, test in untuned.items()]
    with runs_bar(f"acid, {source}", len(seeds)) as ended:
        # a seed's tuners together, for their n-th trials share the splits and all that follows from these
        jobs = (delayed(_runs_from_seed)(tasks, entrants, seed, budgets, folder) for seed in seeds)
        for found, last in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            rows += found
            ended(last)
    return pd.DataFrame(rows)


def _runs_from_seed(
    tasks: Mapping[str, Task],
    entrants: Mapping[str, AcidEntrant],
    seed: int,
    budgets: Sequence[int],
    folder: Path | None,
) -> tuple[list[dict[str, Any]], Run]:
    rows: list[dict[str, Any]] = []
    with data_from(folder):
        for label, entrant in entrants.items():
            run = run_search(tasks[entrant.region], label, entrant.search, seed)
            rows += budget_rows(run, entrant.region, tasks[entrant.region], budgets)
    return rows, run


def budget_rows(run: Run, region: str, shared: Task, budgets: Sequence[int]) -> list[dict[str, Any]]:
    """Return what a run would have recommended after each budget, and its score on the test rows."""
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
                "region": region,
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
