"""The command `spotsvm status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from spotsvm.errors import StorageError
    from spotsvm.status import Status


@click.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per record, each on one line.")
def status(records: tuple[Path, ...], as_json: bool) -> None:
    """Show how far the studies in RECORDS (SQLite files, or folders of them) are, while they run or afterwards.

    One study is shown in full, several as a table. Records are only read, and running studies are not held up. The exit code is
    2 if a record cannot be read. To follow running studies: watch -n 5 spotsvm status RECORDS
    """
    from spotsvm.errors import StorageError
    from spotsvm.status_text import status_page, status_table

    studies, errors = _read(records)
    if len(errors) == 1 and not studies:
        raise errors.popitem()[1]
    if as_json:
        for study in studies.values():
            click.echo(json.dumps(study.to_dict()))
        for file, error in errors.items():
            click.echo(json.dumps({"path": str(file), "error": str(error)}))
    elif len(studies) == 1 and not errors and not records[0].is_dir():
        click.echo(status_page(*studies.values()))
    else:
        click.echo(status_table(studies) if studies else "no records found")
    if errors:
        raise StorageError(
            f"{len(errors)} of {len(studies) + len(errors)} records cannot be read: {'; '.join(map(str, errors.values()))}"
        )


def _read(paths: tuple[Path, ...]) -> tuple[dict[Path, Status], dict[Path, StorageError]]:
    """Read each record once; return the studies, and the errors of the records that cannot be read."""
    from spotsvm.errors import StorageError
    from spotsvm.read_status import read_status
    from spotsvm.record_files import record_files

    studies: dict[Path, Status] = {}
    errors: dict[Path, StorageError] = {}
    for file in dict.fromkeys(file for path in paths for file in record_files(path)):
        try:
            studies[file] = read_status(file)
        except StorageError as error:
            errors[file] = error
    return studies, errors
