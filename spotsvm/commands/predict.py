"""The command `spotsvm predict`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from spotsvm.commands.tune import layout_options


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", default="-", help="File for the predictions; - for standard output, the default.")
@layout_options
@click.option("--only", is_flag=True, help="Write the predictions without the columns of FILE.")
def predict(model: Path, file: Path, out: str, only: bool, **how: Any) -> None:
    """Predict the rows of the table in FILE (CSV) with a MODEL.

    The model is the file model.skops of `spotsvm tune --out`, or its folder. The table needs the columns of the training table,
    in any order. The predictions follow the columns of the table; in classification they include the probability of each class.
    """
    from spotsvm.common.csv_files import write_csv
    from spotsvm.common.text import printable_line
    from spotsvm.errors import StorageError
    from spotsvm.tuning.predict import predictions
    from spotsvm.tuning.saved import MODEL, load_model
    from spotsvm.tuning.tables.reading import Choices

    if out != "-" and Path(out).resolve() in (model.resolve(), (model / MODEL).resolve(), file.resolve()):
        raise StorageError(f"--out {out} is one of the files to read; use another file")
    answers = predictions(
        load_model(model), file, Choices(**how), lambda line: click.echo(f"spotsvm: {printable_line(line)}", err=True), only
    )
    try:
        write_csv(answers, sys.stdout if out == "-" else Path(out), "predictions")
    except StorageError as error:
        raise StorageError(f"--out {error}") from error
