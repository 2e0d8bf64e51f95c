"""The commands `spotsvm tune` and `spotsvm demo`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from shutil import which
from typing import Any

import click

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
    from spotsvm.errors import WorkersError
    from spotsvm.study.workers.dask_cluster import connect

    with connect(address, "--dask", timeout=_ANSWER) as client:
        try:
            client.wait_for_workers(1, timeout=_WORKER)
        except (OSError, RuntimeError) as error:  # a timeout is an OSError
            raise WorkersError(f"--dask {address}: no worker appeared within {_WORKER:g} s ({error}); start one") from error
        yield client


def run_job(kind: Any, table: Any, *, quiet: bool, code: bool, dask: str | None = None, **options: Any) -> Any:
    """Tune a kind of model on a table, print a summary, and return job and results.

    The options are settings of the job and of the model. The candidates of a search may be scored on a Dask cluster.
    """
    from spotsvm.errors import StorageError, StudyMismatchError
    from spotsvm.study.callbacks import progress_bar
    from spotsvm.tuning.job import Job
    from spotsvm.tuning.summary import summary

    job, told = Job.of(kind, table, command=command_line(), **options), list[str]()
    job.check()
    with cluster(dask) as executor, says_how_to_resume(job.out, records=kind.by == "search"):
        try:
            results = replace(job, executor=executor).run(None if quiet else progress_bar, _sayer(quiet, told))
        except StudyMismatchError as error:
            if error.differs != "data":
                raise
            raise StorageError(f"--out {job.out} belongs to another table; use a new --out") from error
    _print(summary(job, results, told), results, code)
    return job, results


def kind_of(model: str) -> Any:
    """Return the kind of model that a value of --model stands for."""
    if model == "tuned":
        from spotsvm.tuning.svm_average import SVMAverage

        return SVMAverage
    from spotsvm.tuning.svm_search import SVMSearch

    return SVMSearch


def _sayer(quiet: bool, told: list[str]) -> Callable[[str], None]:
    """Return the function that prints a line of the plan and adds it to those told; with `quiet` it does neither."""
    from spotsvm.common.text import printable_line

    def say(line: str) -> None:
        if not quiet:
            click.echo(f"spotsvm: {printable_line(line)}", err=True)
            told.append(line)

    return say


def _print(text: str, results: Any, code: bool) -> None:
    from spotsvm.common.text import printable

    click.echo(printable(text))
    if code and results[-1].code:
        click.echo(printable(f"\nThis Python code repeats it:\n\n{results[-1].code}"), nl=False)


Decorator = Callable[[Any], Any]


class _Choice(click.Choice[str]):
    """A choice that hints at the value that a misspelt one may stand for."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        from spotsvm.common.text import did_you_mean  # on use: --help needs none of the library

        return f"{super().get_invalid_choice_message(value, ctx).rstrip('.')}{did_you_mean(str(value), self.choices) or '.'}"


def _section(title: str, *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, in this order, in a section of its help."""

    def add(option: Decorator, command: Any) -> Any:
        command = option(command)
        command.__click_params__[-1].section = title
        return command

    return lambda command: reduce(lambda inner, option: add(option, inner), reversed(options), command)


class _SectionedCommand(click.Command):
    """A command whose help has its options in sections, in the order in which they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", ""), []).append(record)
        for title, records in sorted(sections.items(), key=lambda item: not item[0]):  # those without a title last
            with formatter.section(title or "Other options"):
                formatter.write_dl(records)


#: the options that `tune` and `demo` share
result_options = _section(
    "Fit and results",
    click.option(
        "--cv",
        type=click.IntRange(2),
        help="Number of folds of the cross-validation; by default 5, or fewer if the rows do not allow 5.",
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the splits and all other draws."
    ),
    click.option(
        "--compare/--no-compare",
        default=True,
        help="Whether to score a linear model and a random forest on the same held-out rows, in addition to a constant.",
    ),
    click.option(
        "--explain/--no-explain",
        default=None,
        help="Whether the page says which columns matter and whether more rows would help, by refits on folds; by default if "
        "this takes less than ten seconds, and less than a tenth of the time limit.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Time limit for everything but reading and compiling. If all rows take too long, a sample is used.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Number of folds scored in parallel; of candidates with --trial-timeout or --memory-limit. Results stay the same.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Folder for report, model and tables; with --model svm, spectra or stormwater also for the records of the search, "
        "which the same command resumes.",
    ),
    click.option("--code", is_flag=True, help="Also print Python code that repeats the run; the page always has this code."),
    click.option("-q", "--quiet", is_flag=True, help="Print only the results, without notices and progress."),
)

#: the section of the options of a search of one SVM
_SEARCH = "Search of one SVM (--model svm, spectra or stormwater)"

#: the options of a search, and for its workers and their limits
search_options = _section(
    _SEARCH,
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
        help="kriging, koch2011, vns, carrizosa2014, keerthi_lin, cmaes, lbfgsb, random, lhs or kriging_per_second.",
    ),
    click.option(
        "--baseline",
        type=_Choice(["none", "random"]),
        default="none",
        show_default=True,
        help="Whether to run a random search as well, for comparison, at the same cost again.",
    ),
    click.option(
        "--oversearching",
        type=_Choice(["auto", "folds", "nested", "none"]),
        default="auto",
        show_default=True,
        help="How to estimate by how much the tuned score is too good. auto, folds: from the fold scores, at no cost. nested: "
        "by nested resampling, at the cost of five searches.",
    ),
    click.option(
        "--stop",
        is_flag=True,
        help="End a search once its largest expected improvement is far below the uncertainty of the score.",
    ),
    click.option(
        "--widen",
        is_flag=True,
        help="If the chosen value of C, gamma or epsilon is at an end of its range, continue from the records in --out in a "
        "wider range, with --trials more candidates.",
    ),
    click.option(
        "--dask",
        metavar="ADDRESS",
        help="Score candidates on the Dask cluster whose scheduler is at ADDRESS, such as tcp://host:8786. Its workers "
        "need spotsvm.",
    ),
    click.option(
        "--batch-size",
        type=click.IntRange(1),
        help="Number of candidates suggested together; the results then do not depend on where candidates are scored.",
    ),
    click.option(
        "--trial-timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Time limit of a candidate; its worker process is then killed, and the search continues.",
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


#: the options about the format of a file
layout_options = _section(
    "Table",
    click.option("--sep", help="Separator of the fields: one character, or tab; detected by default."),
    click.option("--encoding", help="Encoding of the file, such as latin-1; UTF-8, UTF-16 and Latin-1 are detected by default."),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row has the names of the columns; columns without names are numbered from 1. By default the "
        "first row has names, unless it has numbers in all columns in which the other rows have numbers.",
    ),
    click.option("--decimal", metavar="MARK", help="Decimal mark, . or , (by default it is detected)."),
    click.option(
        "--thousands", metavar="MARK", help="Mark between thousands, such as the comma in 1,234.5; detected by default."
    ),
    click.option(
        "--skip-rows",
        type=click.IntRange(0),
        help="Number of lines above the header to leave out; by default lines with a single cell, such as a title.",
    ),
)

#: the options that say what a table holds
table_options = _section(
    "Table",
    click.option(
        "--drop", multiple=True, metavar="COLUMN", help="Column to leave out; repeat the option or use commas for several."
    ),
    click.option(
        "--features", multiple=True, metavar="COLUMN", help="Column to use, in place of all columns; several as for --drop."
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Column to treat as categories, even if it has numbers; several as for --drop.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="WORD",
        help="Further word or number for a missing value, such as k.A. or -999; several as for --drop.",
    ),
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Column that identifies persons or other groups; the rows of a group stay together in all splits.",
    ),
    click.option(
        "--time-split",
        metavar="COLUMN",
        help="Column of dates or numbers that orders the rows: the latest rows are held out, and each fold is later than "
        "its training rows.",
    ),
    click.option(
        "--require-target",
        is_flag=True,
        help="Refuse rows without a target; otherwise they are left out, and their predictions are written into --out.",
    ),
    click.option(
        "--positive", metavar="LABEL", help="Class of the target to separate from all others: it becomes 1, the others 0."
    ),
    click.option("--drop-classes", multiple=True, metavar="LABEL", help="Class whose rows are left out; several as for --drop."),
)


@click.command(cls=_SectionedCommand)
@click.argument("file", type=click.Path(path_type=Path))
@_section(
    "Task and model",
    click.option("--target", required=True, help="Column to predict; all other columns are features."),
    click.option(
        "--task",
        type=_Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="Type of the target; auto treats text, booleans and few different integers as classes.",
    ),
    click.option(
        "--scoring",
        help="A scorer of scikit-learn, or mean_class_accuracy. By default accuracy (spectra: mean_class_accuracy), or the "
        "negative root mean squared error.",
    ),
    click.option(
        "--class-weight",
        multiple=True,
        metavar="balanced|LABEL=FACTOR",
        help="Weights of classes, as factors of C, in all models (tuned and svm): balanced for the inverse of the share of each "
        "class, or the factor of a class; repeat the option for several classes.",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="PROBABILITY",
        help="Probability from which on a row is predicted to be of the rarer of two classes (of 0 and 1: of class 1), by all "
        "models (tuned); by default the most probable class is predicted.",
    ),
    click.option(
        "--model",
        type=_Choice(["tuned", "svm", "spectra", "stormwater"]),
        default="tuned",
        show_default=True,
        help="tuned: an average of SVMs with several kernels, by TunedSVC or TunedSVR. The others search the parameters of one "
        "SVM. svm: an SVM on scaled columns. spectra: of classes, principal components and their monomials, of which the "
        "important ones are kept, class weights and cutoffs; of numbers, derivatives, scatter correction and scores of partial "
        "least squares. stormwater: a time series predicted from past rain, tested on its last quarter.",
    ),
)
@layout_options
@table_options
@result_options
@search_options
@_section(
    _SEARCH,
    click.option(
        "--scale",
        type=_Choice(["standard", "power"]),
        default="standard",
        show_default=True,
        help="How to scale columns of numbers (svm): to mean 0 and variance 1, or also to a nearly normal distribution, by a "
        "power transformation.",
    ),
    click.option("--region", help="Search region; spectra: default, table7 or table8; stormwater: wide or koch2011."),
    click.option("--time", "time", help="Column of time stamps (stormwater); by default the rows are the time steps."),
    click.option(
        "--horizon", type=click.IntRange(0), default=0, show_default=True, help="How many steps ahead to predict (stormwater)."
    ),
    click.option(
        "--rows",
        type=click.IntRange(0),
        help="Number of latest rows to train and test on (stormwater), 0 for all; 5000 by default. Earlier rows are only the "
        "past of these rows.",
    ),
)
def tune(file: Path, target: str, task: Any, model: str, **options: Any) -> None:
    """Tune an SVM on the table in FILE (CSV).

    A quarter of the rows is held out, to compare the SVM with its default, a constant, a linear model and a random forest; with
    --model spectra also with PLS or LDA and an average of SVMs. The better SVM is recommended, of spectra the best of these.
    """
    from spotsvm.errors import ArgumentError
    from spotsvm.tuning.class_weights import read_class_weight
    from spotsvm.tuning.code import reading_code, series_code
    from spotsvm.tuning.tables.reading import Choices

    choices = {name: options.pop(name) for name in Choices.__dataclass_fields__}
    options["file"] = file.name
    options["class_weight"] = read_class_weight(options["class_weight"])
    if model != "tuned" and (threshold := options.pop("threshold")) is not None:
        raise ArgumentError(
            f"--threshold {threshold} is for --model tuned, whose models have probabilities, not for --model {model}"
        )
    if model in ("spectra", "stormwater") and options["class_weight"] is not None:
        why = "which searches weights and cutoffs of the classes itself" if model == "spectra" else "which has no classes"
        raise ArgumentError(f"--class-weight is not for --model {model}, {why}; leave it out")
    if model == "stormwater":
        option = next((name for name, value in choices.items() if value not in (None, (), False)), None)
        if option is not None:
            raise ArgumentError(f"--{option.replace('_', '-')} is not for time series (--model stormwater); leave it out")
        from spotsvm.tuning.tables.series import read_series

        series = target, options.pop("time"), task, options.pop("rows")
        run_job(kind_of(model), read_series(file, *series), pipeline=model, source=series_code(file, *series), **options)
        return
    from spotsvm.tuning.tables.table import read_table

    if model != "tuned":
        for name in ("time", "rows", "horizon"):
            if options[name]:
                raise ArgumentError(
                    f"--{name} {options[name]} is only for time series (--model stormwater), not for --model {model}"
                )
        del options["time"], options["rows"]
        options["pipeline"] = model
    options = _of_model(model, options)
    read = file, target, task, Choices(**choices)
    run_job(kind_of(model), read_table(*read), source=reading_code(*read), **options)


def _of_model(model: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a model takes; ArgumentError is raised if others are given on the command line."""
    from spotsvm.errors import ArgumentError

    if model != "tuned":
        return options
    context = click.get_current_context()
    others = [option for option in context.command.params if getattr(option, "section", "") == _SEARCH]
    for option in others:
        if context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE:
            raise ArgumentError(
                f"{option.opts[0]} is for a search of one SVM, which --model tuned is not: leave it out, or use --model svm"
            )
    return {name: value for name, value in options.items() if name not in {option.name for option in others}}


@click.command(cls=_SectionedCommand)
@_section(
    "Model",
    click.option(
        "--model",
        type=_Choice(["tuned", "svm"]),
        default="tuned",
        show_default=True,
        help="tuned: an average of SVMs with several kernels. svm: a search of the parameters of one SVM.",
    ),
)
@result_options
@search_options
def demo(model: str, **options: Any) -> None:
    """Tune an SVM on scikit-learn's breast-cancer data."""
    from sklearn.datasets import load_breast_cancer

    from spotsvm.common.code import Script
    from spotsvm.tuning.tables.table import make_table

    options = _of_model(model, options)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    click.echo("Breast cancer (Wisconsin, diagnostic): 569 tumours (malignant or benign), 30 measurements of their cells.")
    source = Script("table = make_table(*load_breast_cancer(return_X_y=True, as_frame=True))")
    source.use("sklearn.datasets", "load_breast_cancer")
    source.use("spotsvm.tables", "make_table")
    job, results = run_job(kind_of(model), make_table(X, y), source=source, **options)
    for line in _demo_page(job, results, options["out"]):
        click.echo(line)
    # an environment that is not activated has the command at the place from which this one was started
    script = "spotsvm" if which("spotsvm") or Path(sys.argv[0]).name != "spotsvm" else sys.argv[0]
    click.echo(f"Next, with a table of your own: {script} tune FILE.csv --target COLUMN")


def _demo_page(job: Any, results: Any, out: Path | None) -> Iterator[str]:
    """Write the page into the current folder, unless a folder with it was named, and yield where it is or why it is not."""
    from spotsvm.errors import StorageError

    page = _DEMO_PAGE if out is None else out / "report.html"
    try:
        if out is None:
            job.write_page(results, page)
        yield f"\nThe page {page} shows this with pictures, and has Python code that repeats it: open it in a browser."
    except (OSError, StorageError) as error:
        yield f"\nThe page with pictures was not written ({error}); --out FOLDER names another folder."
