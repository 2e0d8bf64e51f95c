"""The report of a running study, written anew as trials come in, from the record alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from spotsvm.common.text import checked_path, counted, duration
from spotsvm.errors import StorageError
from spotsvm.study.record.opening import writer_of
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.results import StudyResults

if TYPE_CHECKING:
    from spotsvm.reports.html.page import Page

#: seconds between two looks at the record; a page that takes long to make is made less often
_LOOK, _SHARE = 1.0, 5.0
#: seconds after which an open page loads itself again
_RELOAD = 3.0


def watch(
    record: str | Path,
    out: str | Path,
    baseline: StudyResults | None = None,
    *,
    say: Callable[[str], None] = lambda line: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Write the page of a study whenever trials have finished, until no process writes to its record; the last page stays.

    StorageError is raised if there is no such record. After an interruption the page no longer loads itself again.
    """
    from spotsvm.reports.report import study_page  # on use: most studies are never shown

    file, page = checked_path(out, such_as="report.html"), None
    seen: object = None
    try:
        while True:
            running = writer_of(record) is not None
            study = _read(record, running)
            now = None if study is None else ([(t.number, t.state) for t in study.trials], running)
            if study is not None and now != seen:
                began = time.monotonic()
                page, seen = study_page(study, baseline), now
                _write(page, file, running)
                took = time.monotonic() - began
                say(f"wrote {file}: {counted(study.n_finished, 'finished trial')}")
            else:
                took = 0.0
            if not running:
                if study is None:
                    raise StorageError(f"{record} holds no study, and no process writes to it")
                say(f"no process is writing to {record}, and the page is complete: {study.status().state}")
                return file
            sleep(max(_LOOK, _SHARE * took))
    except BaseException:
        if page is not None:
            with suppress(StorageError, OSError):
                page.write(file)
        raise


def _read(record: str | Path, running: bool) -> RecordedStudy | None:
    """Return the study of a record; None if it is just being created."""
    try:
        return RecordedStudy(record)
    except StorageError:
        if running:
            return None
        raise


def _write(page: Page, file: Path, running: bool) -> None:
    if running:
        at = datetime.now().astimezone().strftime("%H:%M:%S")
        lead = f"The study is running. This page is of {at}; it is written anew as trials finish, and loads itself again every "
        page = replace(page, lead=f"{lead}{duration(_RELOAD)}.", reload=_RELOAD)
    page.write(file)
