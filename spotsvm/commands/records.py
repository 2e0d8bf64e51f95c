"""The commands `spotsvm export` and `spotsvm report`."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--csv", "csv", is_flag=False, flag_value="-", help="File for the trials; - for standard output, the default.")
@click.option("--folds", "folds", is_flag=False, flag_value="-", help="File for the fold scores, one row per trial and fold.")
@click.option("--salvage", is_flag=True, help="Write what can still be read of a damaged record.")
def export(record: Path, csv: str | None, folds: str | None, salvage: bool) -> None:
    """Write the trials of a RECORD (an SQLite file of a study), and the scores of their folds, as CSV."""
    from spotsvm.common.csv_files import write_csv
    from spotsvm.errors import StorageError
    from spotsvm.study.recorded import record_tables, salvaged_tables

    wanted = {"--csv": csv if csv or folds else "-", "--folds": folds}
    for option, file in wanted.items():
        if file not in (None, "-") and Path(file).resolve() == record.resolve():
            raise StorageError(f"{option} {file} is the record itself; use another file")
    if csv is not None and folds is not None and (csv == folds or Path(csv).resolve() == Path(folds).resolve()):
        raise StorageError(f"--csv and --folds are both {csv}; use two different files")
    if salvage:
        *found, line = salvaged_tables(record)
        click.echo(f"spotsvm: {line}", err=True)
    tables = dict(zip(wanted, found if salvage else record_tables(record), strict=True))
    for option, file in wanted.items():
        if file is not None:
            try:
                write_csv(tables[option], sys.stdout if file == "-" else Path(file), "trials" if option == "--csv" else "folds")
            except StorageError as error:
                raise StorageError(f"{option} {error}") from error


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The HTML file to write.")
@click.option("--baseline", type=click.Path(path_type=Path), help="The record of a random search to compare with.")
@click.option("--tables", type=click.Path(path_type=Path), help="Folder for the report's tables as CSV.")
@click.option(
    "--watch",
    is_flag=True,
    help="Write the report anew as trials come in, until the study ends. A page that is open in a browser loads itself again.",
)
def report(record: Path, out: Path, baseline: Path | None, tables: Path | None, watch: bool) -> None:
    """Write the report of a RECORD (an SQLite file of a study) as one HTML file; the study may still be running."""
    from spotsvm.errors import StorageError
    from spotsvm.study.recorded import RecordedStudy

    if out.resolve() in {given.resolve() for given in (record, baseline) if given is not None}:
        raise StorageError(f"--out {out} is one of the records; use another file")
    beside = None if baseline is None else RecordedStudy(baseline)
    if watch:
        from spotsvm.study.watch import watch as write_anew

        write_anew(record, out, beside, say=lambda line: click.echo(line, err=True))
        if tables is None:
            return
    written = RecordedStudy(record).report(out, beside, tables=tables)
    click.echo(f"wrote {written}", err=True)
