"""The command `spotsvm status`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from spotsvm.common.text import aligned, duration
from spotsvm.errors import StorageError
from spotsvm.study.record.opening import record_files
from spotsvm.study.status import Incumbent, Status, read_status
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.timing import PHASES


@click.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per record, each on one line.")
def status(records: tuple[Path, ...], as_json: bool) -> None:
    """Show the progress of the studies in RECORDS (SQLite files, or folders with such files), while they run or afterwards.

    One study is shown in full, several studies as a table. Records are only read, and running studies are not held up. The exit
    code is 2 if a record cannot be read. To follow running studies: watch -n 5 spotsvm status RECORDS
    """
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
    studies: dict[Path, Status] = {}
    errors: dict[Path, StorageError] = {}
    for file in dict.fromkeys(file for path in paths for file in record_files(path)):
        try:
            studies[file] = read_status(file)
        except StorageError as error:
            errors[file] = error
    return studies, errors


_MOST_RUNNING = 8
_WIDE = 160


def status_page(status: Status) -> str:
    """Return everything known about a study, one line per topic."""
    search = status.search if status.seed is None else f"{status.search}, seed {status.seed}"
    lines = [f"{status.path or 'study in memory'}: {search}", _state(status)]
    for name, texts in _topics(status):
        lines += [f"{name if k == 0 else '':<14}{text}" for k, text in enumerate(texts)]
    return "\n".join(_escaped(line) for line in lines)


def status_table(studies: Mapping[Path, Status]) -> str:
    """Return a table with one row per study."""
    headers = ("record", "state", "finished", "running", "failed", "best", "time left")
    rows = [tuple(map(_escaped, (str(file), *_cells(status)))) for file, status in studies.items()]
    return "\n".join(aligned([headers, *rows]))


def _state(status: Status) -> str:
    last = "" if status.seconds_since is None else f"; last activity {duration(status.seconds_since)} ago"
    match status.state:
        case "running":
            return f"running in {status.writer or 'this process'}{last}"
        case "ended":
            return f"ended: {status.reason}{'' if status.writer is None else f'; still open in {status.writer}'}"
        case "broken off":
            killed = "" if status.last_writer is None else f" when {status.last_writer} died"
            return f"broken off{killed}: no process is writing to it{last}"
    return f"idle: no process is writing to it, and it has no budget{last}"


def _topics(status: Status) -> Iterator[tuple[str, list[str]]]:
    yield "trials", [_counts(status)]
    if status.incumbent is not None:
        best = status.incumbent
        yield "best seen", [f"{_best(best)} in trial {best.number}: {_params(best.params)}"]
    if status.n_front is not None:
        yield "front", [f"{status.n_front} non-dominated trials"]
    if status.running:
        shown = [
            f"trial {t.number}{'' if t.seconds is None else f' for {duration(t.seconds)}'}: {_params(t.params)}"
            for t in status.running[:_MOST_RUNNING]
        ]
        more = len(status.running) - len(shown)
        yield "running" if status.state == "running" else "unfinished", shown + [f"and {more} more"] * (more > 0)
    if status.trials_per_minute is not None:
        left = "" if not status.seconds_left else f"; about {duration(status.seconds_left)} left for the rest of the budget"
        yield "speed", [f"{status.trials_per_minute:.3g} trials per minute{left}"]
    if status.time_spent:
        times = [(PHASES[p], duration(t.total), duration(t.median), duration(t.last)) for p, t in status.time_spent.items()]
        yield "time", aligned([("spent in", "total", "median", "last"), *times])
    if status.failures:
        yield "failures", [f"{count} x {reason}" for reason, count in status.failures]
    if status.n_lost:
        yield "workers lost", [f"{count} x {reason}" for reason, count in status.lost]
    if status.state == "broken off":
        yield "to resume", ["run the same program, or the same spotsvm command with the same --out; finished trials are kept"]


def _best(best: Incumbent) -> str:
    """Return the best value seen; an error by its name, in its own unit."""
    unit = ScoreUnit(best.metric)
    return f"{unit.title} {unit.value(best.value):.6g}" if unit.is_error else f"{best.value:.6g}"


def _counts(status: Status) -> str:
    budget = "" if status.n_trials is None else f" of {status.n_trials}"
    parts = [
        (status.n_ok, "ok"),
        (status.n_stopped, "stopped early"),
        (status.n_failed, "failed"),
        (status.n_timeout, "timed out"),
    ]
    ended = ", ".join(f"{count} {what}" for count, what in parts if count)
    unfinished = "running" if status.state == "running" else "unfinished"
    running = f"; {status.n_running} {unfinished}" if status.n_running else ""
    return f"{status.n_finished}{budget} finished{': ' if ended else ''}{ended}{running}"


def _cells(status: Status) -> tuple[str, ...]:
    best = "-" if status.n_front is None else f"front of {status.n_front}"
    if status.incumbent is not None:
        best = _best(status.incumbent)
    finished = f"{status.n_finished}{'' if status.n_trials is None else f'/{status.n_trials}'}"
    left = "-" if not status.seconds_left else duration(status.seconds_left)
    return status.state, finished, str(status.n_running), str(status.n_failed + status.n_timeout), best, left


def _params(params: Mapping[str, Any]) -> str:
    shown = (f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}" for name, value in params.items())
    text = ", ".join(shown)
    return text if len(text) <= _WIDE else text[: _WIDE - 3] + "..."


def _escaped(line: str) -> str:
    """Escape the characters that a terminal would act on."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
