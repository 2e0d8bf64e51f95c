"""The command `spotsvm study`."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--ARGUMENT VALUE]...")
@click.option("--quick", is_flag=True, help="Run a short version, to check that the study works.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the tables, figure and report.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="Folder of the data, or a data file; by default the folder SPOTSVM_DATA."
)
@click.option("--jobs", type=click.IntRange(min=-1), help="Number of jobs at the same time; -1 means one per processor.")
@click.option("--path", type=click.Path(path_type=Path), help="File of ended jobs, or folder of records, to resume from.")
def study(
    name: str | None,
    arguments: tuple[str, ...],
    quick: bool,
    out: Path | None,
    data: Path | None,
    jobs: int | None,
    path: Path | None,
) -> None:
    """Run the study called NAME; without NAME, list the studies.

    Each argument of a study is an option as well: n_splits is --n-splits. Several values are separated by commas. A name that the
    study does not have is refused, with a list of its arguments.
    """
    from spotsvm.common.interruption import says_when_interrupted
    from spotsvm.common.text import printable
    from spotsvm.errors import ArgumentError

    known = {point.name: point for point in sorted(entry_points(group="spotsvm.studies"))}
    if not known:
        raise ArgumentError("no studies are registered, as in a checkout that is not installed; run pip install . in it first")
    if name is None:
        width = max(len(known_name) for known_name in known)
        for point in known.values():
            click.echo(f"{point.name:{width}} {(point.load().__doc__ or '').splitlines()[0]}")
        return
    if name not in known:
        raise ArgumentError(f"study {name!r} is unknown; use one of {', '.join(known)}")
    given = {"n_jobs": jobs, "path": path}
    given = {key: value for key, value in given.items() if value is not None}
    kind = known[name].load()
    experiment = kind(quick=quick, **given, **kind.read_arguments(arguments))
    if data is not None:
        if getattr(experiment, "reads_data", False):
            experiment.use_data(data)
        else:
            click.echo(f"spotsvm: the study {name} reads no data; --data {data} is ignored", err=True)

    def how_to_resume(done: str) -> str:
        if path is None:
            return "nothing was saved; with --path FILE an interrupted study can be resumed"
        return f"ended jobs are recorded in {path}, and the same command goes on from there"

    with says_when_interrupted(how_to_resume):
        experiment.run()
    click.echo(printable(experiment.to_markdown()))
    if out is not None:
        for file in experiment.write(out):
            click.echo(f"wrote {file}", err=True)
