"""How a study stands, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spotsvm.durations import duration
from spotsvm.status import Status
from spotsvm.time_spent import PHASES

_MOST_RUNNING = 8
_WIDE = 160


def status_page(status: Status) -> str:
    """Give all that is known of a study, a line a matter.

    Parameters
    ----------
    status : Status
        As `read_status` gives it.
    """
    head = [status.search, "" if status.seed is None else f"seed {status.seed}"]
    lines = [f"{status.path or 'a study in memory'}: {', '.join(filter(None, head))}", _stand(status)]
    for name, texts in _matters(status):
        lines += [f"{name if k == 0 else '':<14}{text}" for k, text in enumerate(texts)]
    return "\n".join(_printable(line) for line in lines)


def status_lines(statuses: Sequence[tuple[str, Status | str]]) -> str:
    """Give a line a study, under a line of headings.

    Parameters
    ----------
    statuses : sequence of (str, Status or str)
        The name of each, and how it stands, or why that cannot be told.
    """
    rows: list[tuple[str, ...]] = [("record", "state", "finished", "running", "failed", "incumbent", "left")]
    for name, status in statuses:
        cells = _cells(status) if isinstance(status, Status) else (status, "", "", "", "", "")
        rows.append(tuple(_printable(cell) for cell in (name, *cells)))
    # what cannot be told is a sentence, and widens no column
    widths = [max(len(row[k]) for row in rows if row[2] or k == 0) for k in range(7)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _stand(status: Status) -> str:
    since = "" if status.seconds_since is None else f"; a trial was last asked for or told {duration(status.seconds_since)} ago"
    match status.state:
        case "running":
            return f"running in {status.writer or 'this process'}{since}"
        case "ended":
            where = "" if status.writer is None else f"; {status.writer} still has it open"
            return f"ended: {status.reason}{where}"
        case "broken off":
            by = "" if status.last_writer is None else f" by the end of {status.last_writer}"
            return f"broken off{by}: no process writes to it{since}"
    return f"idle: nothing writes to it, and it has no budget{since}"


def _matters(status: Status) -> Iterator[tuple[str, list[str]]]:
    yield "trials", [_counts(status)]
    if status.incumbent is not None:
        best = status.incumbent
        yield "best seen", [f"{best.value:.6g} in trial {best.number}: {_params(best.params)}"]
    if status.n_front is not None:
        yield "front", [f"{status.n_front} trials that no other one dominates"]
    if status.running:
        shown = [_running(t.number, t.params, t.seconds) for t in status.running[:_MOST_RUNNING]]
        more = len(status.running) - len(shown)
        yield "running" if status.state == "running" else "unfinished", shown + [f"and {more} more"] * (more > 0)
    if status.trials_per_minute is not None:
        left = "" if not status.seconds_left else f"; about {duration(status.seconds_left)} for the rest of the budget"
        yield "pace", [f"{status.trials_per_minute:.3g} trials a minute{left}"]
    if status.time_spent:
        yield "time", _times(status)
    if status.failures:
        yield "failures", [f"{count} x {reason}" for reason, count in status.failures]
    if status.n_lost:
        yield "workers lost", [f"{count} x {reason}" for reason, count in status.lost]
    if status.state == "broken off":
        yield (
            "to go on",
            ["run the same program again, or the same spotsvm command with the same --out: finished trials are kept"],
        )


def _counts(status: Status) -> str:
    budget = "" if status.budget is None else f" of {status.budget}"
    parts = [(status.n_ok, "ok"), (status.n_failed, "failed"), (status.n_timeout, "timed out")]
    ended = ", ".join(f"{count} {what}" for count, what in parts if count)
    unfinished = "running" if status.state == "running" else "unfinished"
    running = f"; {status.n_running} {unfinished}" if status.n_running else ""
    return f"{status.n_finished}{budget} finished{': ' if ended else ''}{ended}{running}"


def _times(status: Status) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "in all", "median", "last")]
    rows += [
        (PHASES[phase], *(duration(s) for s in (spent.total, spent.median, spent.last)))
        for phase, spent in status.time_spent.items()
    ]
    return [f"{name:<22}{total:>12}{median:>12}{last:>12}" for name, total, median, last in rows]


def _running(number: int, params: Mapping[str, Any], seconds: float | None) -> str:
    return f"trial {number}{'' if seconds is None else f' for {duration(seconds)}'}: {_params(params)}"


def _cells(status: Status) -> tuple[str, ...]:
    if status.incumbent is not None:
        best = f"{status.incumbent.value:.6g}"
    else:
        best = "-" if status.n_front is None else f"front of {status.n_front}"
    finished = f"{status.n_finished}{'' if status.budget is None else f'/{status.budget}'}"
    left = "-" if not status.seconds_left else duration(status.seconds_left)
    return status.state, finished, str(status.n_running), str(status.n_failed + status.n_timeout), best, left


def _params(params: Mapping[str, Any]) -> str:
    shown = (f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}" for name, value in params.items())
    text = ", ".join(shown)
    return text if len(text) <= _WIDE else text[: _WIDE - 3] + "..."


def _printable(line: str) -> str:
    """Show what a terminal would obey, such as an escape, as the text of it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
