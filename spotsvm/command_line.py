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
@click.option("--scoring", help="A scorer of scikit-learn; accuracy, or the negative root mean squared error, by default.")
@_tuning_options
@_one_line_errors
def tune(file: Path, target: str, task: Any, scoring: str | None, **options: Any) -> None:
    """Tune an SVM on the table in FILE (CSV with a header row, numeric features)."""
    from spotsvm.tabular import read_table

    _tune(read_table(file, target, task), scoring=scoring, **options)


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--csv", "csv", is_flag=False, flag_value="-", default="-", help="File to write, - for standard output.")
@_one_line_errors
def export(record: Path, csv: str) -> None:
    """Write the trials of a RECORD (an SQLite file of a study) as CSV."""
    from spotsvm.errors import StorageError
    from spotsvm.objectives import Objectives
    from spotsvm.record import Record
    from spotsvm.trial_table import trial_table

    if csv != "-" and Path(csv).resolve() == record.resolve():
        raise StorageError(f"--csv {csv} is the record itself; name another file")
    source = Record(record, read_only=True)
    trials = source.trials()
    about = source.about()
    objectives = Objectives.described(about.get("direction", "minimize"), trials)
    source.close()
    # in the order of the space, as `Study.to_csv` has them, and so that none is left out that no trial has
    names = list(dict.fromkeys(name for branch in [*about.get("space", []), *(t.params for t in trials)] for name in branch))
    frame = trial_table(trials, names, objectives.columns)
    try:
        frame.to_csv(sys.stdout if csv == "-" else csv, index=False)
    except OSError as error:
        raise StorageError(f"--csv {csv}: cannot write there: {error.strerror or error}") from error


@main.command()
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="A short form, to see that it works.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the tables.")
@_one_line_errors
def study(name: str | None, quick: bool, out: Path | None) -> None:
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
