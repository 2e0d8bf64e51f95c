"""The command `spotsvm tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spotsvm.commands.run_tuning import run_tuning
from spotsvm.commands.tuning_options import tuning_options
from spotsvm.commands.worker_options import worker_options


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column to predict; all others are features.")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="Type of the target; auto takes text, booleans and few different integers as classes.",
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
    "stormwater: a time series predicted from past rain, tested on its last quarter.",
)
@click.option("--region", help="Search region; spectra: default, table7 or table8; stormwater: wide or koch2011.")
@click.option("--time", "time", help="Column of time stamps (stormwater); by default the rows are the time steps.")
@click.option(
    "--horizon", type=click.IntRange(0), default=0, show_default=True, help="How many steps ahead to predict (stormwater)."
)
@click.option(
    "--rows",
    type=click.IntRange(0),
    help="Number of latest rows to train and test on (stormwater), 0 for all; 5000 by default. Earlier rows are only their past.",
)
@tuning_options
@worker_options
def tune(
    file: Path, target: str, task: Any, pipeline: str, time: str | None, rows: int | None, horizon: int, **options: Any
) -> None:
    """Tune an SVM on the table in FILE (CSV with a header row, numeric features).

    Random search runs as well, for comparison. Both searches start with the SVM's default parameters and the centre of the space.
    """
    from spotsvm.errors import ArgumentError

    if pipeline == "stormwater":
        from spotsvm.series_table import read_series

        table = read_series(file, target, time, task, rows)
    else:
        from spotsvm.tabular import read_table

        for name, value in (("--time", time), ("--rows", rows), ("--horizon", horizon or None)):
            if value is not None:
                raise ArgumentError(
                    f"{name} {value} is only for time series (--pipeline stormwater), not for --pipeline {pipeline}"
                )
        table = read_table(file, target, task)
    run_tuning(table, pipeline=pipeline, horizon=horizon, **options)
