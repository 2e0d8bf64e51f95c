"""The command `spotsvm`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import click


class _OneLineError(click.ClickException):
    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"spotsvm: error: {' '.join(self.message.split())}", err=True)


@contextmanager
def _one_line_usage_errors() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # since click 8.2
            raise
        path = "spotsvm" if error.ctx is None else error.ctx.command_path
        raise _OneLineError(f"{error.format_message()} See {path} --help") from error


class _Commands(click.Group):
    """A group that says in one line what is wrong with its arguments."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _one_line_usage_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _one_line_usage_errors():
            return super().invoke(ctx)


def _one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the library's own errors into one line and exit code 2; Ctrl-C into exit code 130."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        from surrogates.errors import SpotSVMError

        try:
            command(*args, **kwargs)
        except SpotSVMError as error:
            click.echo(f"spotsvm: error: {' '.join(str(error).split())}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("spotsvm: interrupted; with --out, the same command goes on where it stopped", err=True)
            sys.exit(130)

    return guarded


def _tuning_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that `tune` and `demo` share."""
    for option in reversed(
        [
            click.option(
                "--budget", type=click.IntRange(1), default=50, show_default=True, help="Candidates that each search evaluates."
            ),
            click.option(
                "--search",
                default="kriging",
                show_default=True,
                help="kriging, koch2011, vns, carrizosa2014, cmaes, lbfgsb, random or lhs.",
            ),
            click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation."),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**32 - 1),
                default=0,
                show_default=True,
                help="Seed of the splits and the searches.",
            ),
            click.option(
                "--workers",
                type=click.IntRange(1),
                default=1,
                show_default=True,
                help="Folds at once; the results stay the same.",
            ),
            click.option(
                "--oversearching",
                type=click.Choice(["folds", "repeats", "nested", "none"]),
                default="folds",
                show_default=True,
                help="How to tell how much of the tuned score is luck: from its folds, which costs nothing; by fresh repeats, "
                "which cost half a search; or nested, which costs five searches.",
            ),
            click.option(
                "--stop", is_flag=True, help="End a search once what it may still gain is far below what the score can tell."
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path),
                help="Folder for trials, parameters and records; the same command resumes.",
            ),
        ]
    ):
        command = option(command)
    return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("spotsvm"), prog_name="spotsvm")
def main() -> None:
    """Tune support vector machines with few evaluations, and see how much of the score is luck."""


@main.command()
@_tuning_options
@_one_line_errors
def demo(**options: Any) -> None:
    """Tune an SVM on scikit-learn's breast-cancer data."""
    from sklearn.datasets import load_breast_cancer

    from spotsvm.tabular import make_table

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    click.echo("Breast cancer (Wisconsin, diagnostic): 569 tumours, 30 measurements of their cells, malignant or benign.")
    _tune(make_table(X, y), **options)


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column to predict; all others are features.")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="What is predicted; auto takes text, truth values and few different whole numbers for classes.",
)
@click.option(
    "--scoring",
    help="A scorer of scikit-learn, or mean_class_accuracy. By default accuracy (spectra: mean_class_accuracy), or the negative "
    "root mean squared error.",
)
@click.option(
    "--pipeline",
    type=click.Choice(["table", "spectra", "stormwater"]),
    default="table",
    show_default=True,
    help="table: scaled SVM. spectra: principal components, their monomials, the important ones, class weights and cutoffs. "
    "stormwater: a series told from the rain before, tested on its last quarter.",
)
@click.option("--region", help="Where to search; spectra: default, table7 or table8; stormwater: wide or koch2011.")
@click.option("--time", "time", help="Column of time stamps (stormwater); without one, rows are the steps of time.")
@click.option("--horizon", type=click.IntRange(0), default=0, show_default=True, help="Steps ahead to tell (stormwater).")
@click.option(
    "--rows",
    type=click.IntRange(0),
    help="Latest rows to train and test on (stormwater), 0 for all; 5000 by default. Those before are their past.",
)
@_tuning_options
@_one_line_errors
def tune(
    file: Path, target: str, task: Any, pipeline: str, time: str | None, rows: int | None, horizon: int, **options: Any
) -> None:
    """Tune an SVM on the table in FILE (CSV with a header row, numeric features)."""
    from spotsvm.errors import ArgumentError

    if pipeline == "stormwater":
        from spotsvm.series_table import read_series

        table = read_series(file, target, time, task, rows)
    else:
        from spotsvm.tabular import read_table

        for name, value in (("--time", time), ("--rows", rows), ("--horizon", horizon or None)):
            if value is not None:
                raise ArgumentError(
                    f"{name} {value} is of a series, as --pipeline stormwater; the rows of --pipeline {pipeline} are in no order"
                )
        table = read_table(file, target, task)
    _tune(table, pipeline=pipeline, horizon=horizon, **options)


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option(
    "--csv", "csv", is_flag=False, flag_value="-", help="File for the trials, - (or nothing else asked) for standard output."
)
@click.option("--folds", "folds", is_flag=False, flag_value="-", help="File for the fold scores, a row a trial and fold.")
@_one_line_errors
def export(record: Path, csv: str | None, folds: str | None) -> None:
    """Write the trials of a RECORD (an SQLite file of a study), and the scores of their folds, as CSV."""
    from spotsvm.csv_files import write_csv
    from spotsvm.errors import StorageError
    from spotsvm.record_tables import record_tables

    wanted = {"--csv": csv if csv or folds else "-", "--folds": folds}
    for option, file in wanted.items():
        if file not in (None, "-") and Path(file).resolve() == record.resolve():
            raise StorageError(f"{option} {file} is the record itself; name another file")
    if csv is not None and folds is not None and (csv == folds or Path(csv).resolve() == Path(folds).resolve()):
        raise StorageError(f"--csv and --folds are both {csv}; name two files")
    tables = dict(zip(wanted, record_tables(record), strict=True))
    for option, file in wanted.items():
        if file is not None:
            try:
                write_csv(tables[option], sys.stdout if file == "-" else Path(file), "trials" if option == "--csv" else "folds")
            except StorageError as error:
                raise StorageError(f"{option} {error}") from error


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The HTML file to write.")
@click.option("--baseline", type=click.Path(path_type=Path), help="The record of a random search, to stand beside it.")
@click.option("--tables", type=click.Path(path_type=Path), help="Folder for the report's tables as CSV.")
@_one_line_errors
def report(record: Path, out: Path, baseline: Path | None, tables: Path | None) -> None:
    """Write the report of a RECORD (an SQLite file of a study) as one HTML file; the study may be running."""
    from spotsvm.errors import StorageError
    from spotsvm.recorded_study import RecordedStudy

    if out.resolve() in {given.resolve() for given in (record, baseline) if given is not None}:
        raise StorageError(f"--out {out} is a record itself; name another file")
    beside = None if baseline is None else RecordedStudy(baseline)
    written = RecordedStudy(record).report(out, beside, tables=tables)
    click.echo(f"wrote {written}", err=True)


@main.command()
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="A short form, to see that it works.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for tables, figure and report.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="Folder of the data, or a file of them: in place of SPOTSVM_DATA's."
)
@_one_line_errors
def study(name: str | None, quick: bool, out: Path | None, data: Path | None) -> None:
    """Run the study called NAME; without one, list the studies."""
    from spotsvm.errors import ArgumentError

    known = {point.name: point for point in sorted(entry_points(group="spotsvm.studies"))}
    if name is None:
        width = max((len(known_name) for known_name in known), default=0)
        for point in known.values():
            click.echo(f"{point.name:{width}} {(point.load().__doc__ or '').splitlines()[0]}")
        return
    if name not in known:
        raise ArgumentError(f"study {name!r} is unknown; there are {', '.join(known)}")
    experiment = known[name].load()(quick=quick)
    if data is not None:
        if getattr(experiment, "reads_data", False):
            experiment.use_data(data)
        else:
            click.echo(f"spotsvm: the study {name} reads no data; --data {data} changes nothing", err=True)
    experiment.run()
    click.echo(experiment.to_markdown())
    if out is not None:
        for file in experiment.write(out):
            click.echo(f"wrote {file}", err=True)


@main.command()
@_one_line_errors
def warmup() -> None:
    """Compile the solvers, which their first use does otherwise; it takes some seconds, once for an installation."""
    from spotsvm.warm_up import warm_up

    click.echo(f"compiled, or found compiled, in {warm_up():.1f} s")


def _tune(table: Any, **options: Any) -> None:
    from solvers.search import SEARCHES, needs_several_objectives
    from spotsvm.errors import ArgumentError
    from spotsvm.progress import progress_bar
    from spotsvm.tuning_job import TuningJob
    from spotsvm.tuning_summary import tuning_summary

    searches = [name for name in SEARCHES if not needs_several_objectives(name)]
    if options["search"] not in searches:
        wrong = "is for several objectives" if options["search"] in SEARCHES else "is unknown"
        raise ArgumentError(f"--search {options['search']!r} {wrong}; use one of {', '.join(searches)}")
    job = TuningJob(table, **options)
    click.echo(tuning_summary(job, job.run(progress_bar)))
