"""The command `spotsvm status`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from spotsvm.status import Status

#: seconds between two looks: below the first, the look itself is what is waited for
_PAUSES = (0.1, 86400.0)


def _checked_pause(ctx: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
    if seconds is not None and not _PAUSES[0] <= seconds <= _PAUSES[1]:  # nan is in no range of click's
        raise click.BadParameter(f"{seconds:g} is not a time to wait; use {_PAUSES[0]:g} to {_PAUSES[1]:.0f} seconds.")
    return seconds


@click.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="For programs: an object a record, each on a line of its own.")
@click.option(
    "--watch",
    type=float,
    metavar="SECONDS",
    callback=_checked_pause,
    help="Look again every so often, until nothing runs any more.",
)
def status(records: tuple[Path, ...], as_json: bool, watch: float | None) -> None:
    """Say how the studies of RECORDS (SQLite files, or folders of them) stand, while they run or after; a line each of several.

    Records are only read, and running studies not held up. It ends with code 2 if one of them cannot be read.
    """
    try:
        while True:
            found = _look(records)
            if watch is not None and not as_json and sys.stdout.isatty():
                click.clear()
            shown = _shown(found, as_json, several=len(found) > 1 or any(path.is_dir() for path in records))
            click.echo(shown, nl=bool(shown))  # of no records no object, and no empty line in place of one
            if watch is None or not any(_runs(one) for _, one in found):
                break
            time.sleep(watch)
    except KeyboardInterrupt:  # as those who watch end it: nothing is lost, nothing is to be resumed
        sys.exit(130)
    if unread := [path for path, one in found if isinstance(one, str)]:
        from spotsvm.errors import StorageError

        raise StorageError(f"{len(unread)} of {len(found)} records cannot be read: {', '.join(map(str, unread))}")


def _look(records: tuple[Path, ...]) -> list[tuple[Path, Status | str]]:
    """Read each record once; where that fails, and it is not the only one asked for, give the reason in its place."""
    from spotsvm.errors import StorageError
    from spotsvm.read_status import read_status
    from spotsvm.record_files import record_files

    found: dict[Path, Status | str] = {}
    for path in records:
        try:
            files = record_files(path)
        except StorageError as error:
            if len(records) == 1:
                raise
            found[path] = _reason(error, path)
            continue
        for file in files:
            try:
                found[file] = found.get(file) or read_status(file)
            except StorageError as error:
                if list(records) == [file]:
                    raise
                found[file] = _reason(error, file)
    return list(found.items())


def _reason(error: Exception, file: Path) -> str:
    """Give what is wrong with a file, whose name stands before it."""
    return str(error).removeprefix(f"{file}").lstrip(": ")


def _shown(found: list[tuple[Path, Status | str]], as_json: bool, *, several: bool) -> str:
    import json

    from spotsvm.status_text import status_lines, status_page

    if as_json:
        objects = ({"path": str(file), "error": one} if isinstance(one, str) else one.to_dict() for file, one in found)
        return "\n".join(json.dumps(one) for one in objects)
    if not found:
        return "no records there"
    if not several and not isinstance(found[0][1], str):
        return status_page(found[0][1])
    return status_lines([(str(file), one) for file, one in found])


def _runs(one: Status | str) -> bool:
    return not isinstance(one, str) and one.state == "running"
