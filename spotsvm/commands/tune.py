"""The commands `spotsvm tune` and `spotsvm demo`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from spotsvm.commands.options import Choice, SectionedCommand, section
from spotsvm.commands.session import command_line, says_how_to_resume

#: where the demo writes its page
_DEMO_PAGE = Path("spotsvm_demo.html")
#: seconds within which the scheduler must answer, and the first worker appear
_ANSWER, _WORKER = 10.0, 60.0


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """Return a context manager with a client of the cluster, None without an address; leaving it cancels unfinished work."""
    if address is None:
        yield None
        return
    from spotsvm.common.errors import WorkersError
    from spotsvm.study.workers.dask_connection import connect

    with connect(address, "--dask", timeout=_ANSWER) as client:
        try:
            client.wait_for_workers(1, timeout=_WORKER)
        except (OSError, RuntimeError) as error:  # a timeout is an OSError
            raise WorkersError(f"--dask {address}: no worker appeared within {_WORKER:g} s ({error}); start one") from error
        yield client


def run_tuning(table: Any, *, dask: str | None, quiet: bool, code: bool, cv: int | None, **options: Any) -> Any:
    """Tune the SVM of a table, on the Dask cluster at an address or in this process, print a summary, and return the results.

    The options are those of `TuningJob`; folds that are not given are 5, or fewer if the table allows no more.
    """
    from spotsvm.common.errors import ArgumentError, StorageError, StudyMismatchError
    from spotsvm.common.text import did_you_mean, printable, printable_line
    from spotsvm.solvers.search import SEARCHES, needs_several_objectives
    from spotsvm.study.callbacks import progress_bar
    from spotsvm.tuning.job import FOLDS, TuningJob
    from spotsvm.tuning.summary import tuning_summary

    searches = [name for name in SEARCHES if not needs_several_objectives(name)]
    if options["search"] not in searches:
        wrong = "is for several objectives" if options["search"] in SEARCHES else "is unknown"
        hint = did_you_mean(options["search"], searches)
        raise ArgumentError(f"--search {options['search']!r} {wrong}; use one of {', '.join(searches)}{hint}")
    with cluster(dask) as executor, says_how_to_resume(options.get("out")):
        job = TuningJob(table, executor=executor, command=command_line(), cv=FOLDS if cv is None else cv, **options)

        def say(line: str) -> None:
            if not quiet:
                click.echo(f"spotsvm: {printable_line(line)}", err=True)

        if cv is None:
            job = job.with_possible_folds()
        try:
            results = job.run(_silence if quiet else progress_bar, say)
        except StudyMismatchError as error:
            if error.differs != "data":
                raise
            raise StorageError(f"--out {job.out} belongs to another table; use a new --out") from error
    click.echo(printable(tuning_summary(job, results)))
    if code and results[-1].code:
        click.echo(printable(f"\nThis Python code repeats it:\n\n{results[-1].code}"), nl=False)
    return results


@contextmanager
def _silence(name: str, budget: int) -> Iterator[None]:
    """Show nothing of a search."""
    yield


#: the options that `tune` and `demo` share
tuning_options = section(
    "Search and report",
    click.option(
        "--trials",
        "n_trials",
        type=click.IntRange(1),
        default=50,
        show_default=True,
        help="Number of candidates that the search evaluates.",
    ),
    click.option(
        "--search",
        default="kriging",
        show_default=True,
        help="kriging, koch2011, vns, carrizosa2014, cmaes, lbfgsb, random, lhs or kriging_per_second.",
    ),
    click.option(
        "--baseline",
        type=Choice(["none", "random"]),
        default="none",
        show_default=True,
        help="Whether random search runs as well, for comparison, at the same cost again.",
    ),
    click.option(
        "--cv",
        type=click.IntRange(2),
        help="Number of folds of the cross-validation; by default 5, or as many as the smallest class has rows to train on.",
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the splits and the searches."
    ),
    click.option(
        "--oversearching",
        type=Choice(["auto", "folds", "repeats", "nested", "none"]),
        default="auto",
        show_default=True,
        help="How to estimate how much of the tuned score is luck: from partitions that had no part in the "
        "choice or, where the search has none, from the fold scores, at no cost (auto); by fresh repeats, at the cost of half a "
        "search; or by nested resampling, at the cost of five searches.",
    ),
    click.option(
        "--compare/--no-compare",
        default=True,
        help="Whether a linear model and a random forest are scored on the same held-out rows, beside a constant.",
    ),
    click.option(
        "--stop",
        is_flag=True,
        help="End a search once its largest expected improvement is far below the uncertainty of the score.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Folder for report, model, parameters and records; the same command resumes an interrupted run.",
    ),
    click.option("--code", is_flag=True, help="Print Python code that repeats it as well; the page always has it."),
    click.option("-q", "--quiet", is_flag=True, help="Print the results alone: neither what was decided nor the progress."),
    click.option(
        "--widen",
        is_flag=True,
        help="Go on from the records in --out, with --trials more candidates, where the chosen value of C, gamma or epsilon is "
        "at an end of its range: in a wider range of it.",
    ),
)


#: the options for parallel workers and their limits
worker_options = section(
    "Workers and limits",
    click.option(
        "--workers",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Folds scored in parallel, or with --trial-timeout or --memory-limit candidates; the results stay the same.",
    ),
    click.option(
        "--dask",
        metavar="ADDRESS",
        help="Score candidates on the Dask cluster with its scheduler at ADDRESS, such as tcp://host:8786. Its "
        "workers need spotsvm.",
    ),
    click.option(
        "--batch-size",
        type=click.IntRange(1),
        help="Number of candidates suggested together; the results then do not depend on where they are scored.",
    ),
    click.option(
        "--trial-timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Time limit of a candidate; its worker process is then killed, and the search continues.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Time limit for everything but reading and compiling. Where all rows take too long, parameters are tuned on a "
        "sample, and the machine is fitted on as many rows as there is time for.",
    ),
    click.option("--memory-limit", metavar="SIZE", help="Memory limit of a candidate, such as 2GB or 512MiB."),
    click.option(
        "--retries",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        help="How often a candidate is scored again if its worker died.",
    ),
)


#: the options that say what a table holds
table_options = section(
    "Table",
    click.option("--sep", help="Separator of the fields: one character, or tab; by default it is found out."),
    click.option(
        "--encoding", help="Encoding of the file, such as latin-1; by default UTF-8, UTF-16 and Latin-1 are told apart."
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row has the names of the columns; without names they are numbered from 1. By default there are "
        "names unless the first row has numbers wherever the others have.",
    ),
    click.option("--thousands", metavar="MARK", help="What stands between thousands, such as the comma of 1,234.5."),
    click.option(
        "--skip-rows",
        type=click.IntRange(0),
        help="Number of lines above the header to leave out; by default lines with a single cell, as a title is.",
    ),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Column to leave out; may be repeated, or names with commas."),
    click.option("--features", multiple=True, metavar="COLUMN", help="Column to use, and no others; as --drop."),
    click.option(
        "--categorical", multiple=True, metavar="COLUMN", help="Column of categories, also if they are numbers; as --drop."
    ),
    click.option("--groups", metavar="COLUMN", help="Column of persons, or the like, whose rows stay together in all splits."),
    click.option(
        "--time-split",
        metavar="COLUMN",
        help="Column of dates or numbers by which the latest rows are held out, and each fold is later than its training rows.",
    ),
    click.option(
        "--require-target",
        is_flag=True,
        help="Refuse rows without a target, which are otherwise left out and predicted into --out.",
    ),
    click.option("--positive", metavar="LABEL", help="Class of the target to tell from all others: it becomes 1, the others 0."),
    click.option("--drop-classes", multiple=True, metavar="LABEL", help="Class whose rows are left out; as --drop."),
)


@click.command(cls=SectionedCommand)
@click.argument("file", type=click.Path(path_type=Path))
@section(
    "Task and model",
    click.option("--target", required=True, help="Column to predict; all others are features."),
    click.option(
        "--task",
        type=Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="Type of the target; auto takes text, booleans and few different integers as classes.",
    ),
    click.option(
        "--scoring",
        help="A scorer of scikit-learn, or mean_class_accuracy. By default accuracy (spectra: mean_class_accuracy), or the "
        "negative root mean squared error.",
    ),
    click.option(
        "--pipeline",
        type=Choice(["table", "spectra", "stormwater"]),
        default="table",
        show_default=True,
        help="table: scaled SVM. spectra: principal components, their monomials, the important ones, class weights and cutoffs. "
        "stormwater: a time series predicted from past rain, tested on its last quarter.",
    ),
    click.option(
        "--scale",
        type=Choice(["standard", "power"]),
        default="standard",
        show_default=True,
        help="How columns of numbers are scaled (table): to mean 0 and variance 1, or also nearly normal, by a power "
        "transformation.",
    ),
    click.option("--region", help="Search region; spectra: default, table7 or table8; stormwater: wide or koch2011."),
    click.option("--time", "time", help="Column of time stamps (stormwater); by default the rows are the time steps."),
    click.option(
        "--horizon", type=click.IntRange(0), default=0, show_default=True, help="How many steps ahead to predict (stormwater)."
    ),
    click.option(
        "--rows",
        type=click.IntRange(0),
        help="Number of latest rows to train and test on (stormwater), 0 for all; 5000 by default. Earlier rows are only their "
        "past.",
    ),
)
@table_options
@tuning_options
@worker_options
def tune(
    file: Path, target: str, task: Any, pipeline: str, time: str | None, rows: int | None, horizon: int, **options: Any
) -> None:
    """Tune an SVM on the table in FILE (CSV).

    The search starts with the SVM's default parameters and the centre of the space. In the end both are compared on rows that the
    search has not used: where tuning did not help, the default SVM is what is recommended.
    """
    from spotsvm.common.errors import ArgumentError
    from spotsvm.tuning.code import reading_code, series_code
    from spotsvm.tuning.tables.table import Choices

    choices = {name: options.pop(name) for name in Choices.__dataclass_fields__}
    options["file"] = file.name
    if pipeline == "stormwater":
        given = next((name for name, value in choices.items() if value not in (None, (), False)), None)
        if given is not None:
            raise ArgumentError(f"--{given.replace('_', '-')} is not for time series (--pipeline stormwater); leave it out")
        from spotsvm.tuning.tables.series import read_series

        table, source = read_series(file, target, time, task, rows), series_code(file, target, time, task, rows)
    else:
        from spotsvm.tuning.tables.table import read_table

        for name, value in (("--time", time), ("--rows", rows), ("--horizon", horizon or None)):
            if value is not None:
                raise ArgumentError(
                    f"{name} {value} is only for time series (--pipeline stormwater), not for --pipeline {pipeline}"
                )
        table, source = read_table(file, target, task, Choices(**choices)), reading_code(file, target, task, Choices(**choices))
    run_tuning(table, pipeline=pipeline, horizon=horizon, source=source, **options)


@click.command(cls=SectionedCommand)
@tuning_options
@worker_options
def demo(**options: Any) -> None:
    """Tune an SVM on scikit-learn's breast-cancer data."""
    from sklearn.datasets import load_breast_cancer

    from spotsvm.tuning.tables.table import make_table

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    click.echo("Breast cancer (Wisconsin, diagnostic): 569 tumours (malignant or benign), 30 measurements of their cells.")
    source = (
        "from sklearn.datasets import load_breast_cancer\nfrom spotsvm.tuning.tables.table import make_table\n\n"
        "table = make_table(*load_breast_cancer(return_X_y=True, as_frame=True))"
    )
    results = run_tuning(make_table(X, y), source=source, **options)
    for line in _demo_page(results, options["out"]):
        click.echo(line)
    click.echo("Next, with a table of your own: spotsvm tune FILE.csv --target COLUMN")


def _demo_page(results: Any, out: Path | None) -> Iterator[str]:
    """Write the page into the current folder, unless a folder with it was named, and yield where it is or why it is not."""
    from spotsvm.common.errors import StorageError
    from spotsvm.tuning.results import write_tuning_report

    page = _DEMO_PAGE if out is None else out / "report.html"
    try:
        if out is None:
            write_tuning_report(results, page)
        yield f"\nThe page {page} shows this with pictures, and has Python code that repeats it: open it in a browser."
    except (OSError, StorageError) as error:
        yield f"\nThe page with pictures was not written ({error}); --out FOLDER names another folder."
