"""The command `spotsvm predict`."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", default="-", help="File for the predictions; - for standard output, the default.")
@click.option("--sep", help="Separator of the fields: one character, or tab; by default it is found out.")
@click.option("--encoding", help="Encoding of the file, such as latin-1; by default it is found out.")
def predict(model: Path, file: Path, out: str, sep: str | None, encoding: str | None) -> None:
    """Predict the rows of the table in FILE (CSV) with a MODEL.

    The model is the file model.skops of `spotsvm tune --out`. The table has the columns of the training table, in any order.
    """
    from spotsvm.common.csv_files import write_csv
    from spotsvm.common.errors import StorageError
    from spotsvm.common.text import printable_line
    from spotsvm.tuning.predict import predictions
    from spotsvm.tuning.saved import load_model

    if out != "-" and Path(out).resolve() in (model.resolve(), file.resolve()):
        raise StorageError(f"--out {out} is one of the files to read; use another file")
    found = predictions(
        load_model(model), file, sep, encoding, lambda line: click.echo(f"spotsvm: {printable_line(line)}", err=True)
    )
    try:
        write_csv(found, sys.stdout if out == "-" else Path(out), "predictions")
    except StorageError as error:
        raise StorageError(f"--out {error}") from error
