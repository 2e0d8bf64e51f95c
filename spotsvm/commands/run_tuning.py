"""The tuning that `tune` and `demo` run."""

from __future__ import annotations

from typing import Any

import click

from spotsvm.commands.cluster import cluster
from spotsvm.commands.interruption import says_how_to_resume


def run_tuning(table: Any, *, dask: str | None, **options: Any) -> None:
    """Tune the SVM of a table, on the Dask cluster at an address or in this process, and print a summary.

    The options are those of `TuningJob`.
    """
    from solvers.search import SEARCHES, needs_several_objectives
    from spotsvm.errors import ArgumentError
    from spotsvm.printable import printable
    from spotsvm.progress import progress_bar
    from spotsvm.tuning_job import TuningJob
    from spotsvm.tuning_summary import tuning_summary

    searches = [name for name in SEARCHES if not needs_several_objectives(name)]
    if options["search"] not in searches:
        wrong = "is for several objectives" if options["search"] in SEARCHES else "is unknown"
        raise ArgumentError(f"--search {options['search']!r} {wrong}; use one of {', '.join(searches)}")
    with cluster(dask) as executor, says_how_to_resume(options.get("out")):
        job = TuningJob(table, executor=executor, **options)
        results = job.run(progress_bar)
    click.echo(printable(tuning_summary(job, results)))
