"""The command `spotsvm report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The HTML file to write.")
@click.option("--baseline", type=click.Path(path_type=Path), help="The record of a random search to compare with.")
@click.option("--tables", type=click.Path(path_type=Path), help="Folder for the report's tables as CSV.")
def report(record: Path, out: Path, baseline: Path | None, tables: Path | None) -> None:
    """Write the report of a RECORD (an SQLite file of a study) as one HTML file; the study may be running."""
    from spotsvm.errors import StorageError
    from spotsvm.recorded_study import RecordedStudy

    if out.resolve() in {given.resolve() for given in (record, baseline) if given is not None}:
        raise StorageError(f"--out {out} is one of the records; use another file")
    beside = None if baseline is None else RecordedStudy(baseline)
    written = RecordedStudy(record).report(out, beside, tables=tables)
    click.echo(f"wrote {written}", err=True)
