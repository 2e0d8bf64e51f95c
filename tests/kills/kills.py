"""Runs killed with SIGKILL at random moments and resumed, compared with the same runs undisturbed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np
from killable_runs import ASYNCHRONOUS, ONE_OBJECTIVE, SEVERAL_OBJECTIVES, Ended, kinds_of, run_job, run_to_end

from spotsvm import load_study
from spotsvm.errors import StorageError

Cells = dict[str, list[tuple[object, ...]]]


@contextmanager
def copied(path: str | Path) -> Iterator[Path]:
    """Yield a copy of a record with its journal: to read a record after a kill recovers it, which is left to the next run."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (Path(path), Path(f"{path}-wal")):
            if file.exists():
                shutil.copy(file, folder)
        yield Path(folder) / Path(path).name


def record_cells(path: str | Path) -> Cells:
    """Return kind, number and content of each event of a record, without times, and other tables as they are.

    The record is read as it is, by SQLite alone, so that nothing of the library's own reading is taken for granted. Outcomes that
    arrived before their turn are left out: whether there are any depends on when the run was killed.
    """
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        cells: Cells = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    rows = [(kind, number, json.loads(content)) for _, kind, number, content, *_ in cells["events"] if kind != "reported"]
    return cells | {"events": [(kind, number, json.dumps(_untimed(content))) for kind, number, content in rows]}


def _untimed(content: Any) -> Any:
    """Return JSON without its times."""
    if isinstance(content, dict):
        return {name: _untimed(one) for name, one in content.items() if not name.endswith(("seconds", "_at"))}
    return [_untimed(one) for one in content] if isinstance(content, list) else content


def first_difference(cells: Cells, others: Cells) -> str:
    """Return in words where two records differ first; nothing where they do not.

    Examples
    --------
    >>> first_difference({"events": [("told", 0)]}, {"events": [("told", 1)]})
    "events, row 0: ('told', 0) instead of ('told', 1)"
    """
    if cells.keys() != others.keys():
        return f"tables {', '.join(cells)} instead of {', '.join(others)}"
    for table, rows in cells.items():
        expected = others[table]
        for k, (row, other) in enumerate(zip(rows, expected, strict=False)):
            if row != other:
                return f"{table}, row {k}: {row} instead of {other}"
        if len(rows) != len(expected):
            return f"{table}: {len(rows)} rows instead of {len(expected)}"
    return ""


def is_sound(path: str | Path) -> bool:
    """Return whether SQLite finds nothing wrong with a file."""
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        try:
            return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False


Moment = Literal["statement", "byte", "time"]
MOMENTS: tuple[Moment, ...] = ("statement", "byte", "time")
_MOST_KILLS = 5
_TRIES = 8
#: a run that does not end within so many times what the undisturbed one took, and as many seconds, hangs
_PATIENCE = 30.0


@dataclass(frozen=True)
class KilledRun:
    """What came of a run that was killed.

    `moments` and the run's own name are all that it takes to repeat it. `inside` counts kills that were surely within a
    transaction, `lost` trials that `tell` had returned from and the record lacked or had otherwise, `unread` how often
    `load_study` could not read what was told, `repeated` evaluations beyond one a trial, and `left` processes that outlived by a
    second the run that had started them. `wrong` says what is wrong with the record or the end of the run; empty if nothing is.
    """

    kills: int
    inside: int
    moments: str
    told: int
    lost: int
    unread: int
    told_twice: int
    repeated: int
    left: int
    wrong: str


def killed_run(
    search: str, kind: str, seed: int, first: Moment, folder: Path, run_job: Callable[..., Ended] = run_job
) -> KilledRun:
    """Run a study undisturbed, then once more with kills, and compare.

    The seed is that of the study and of the moments. `first` is how the first moment is chosen; the further ones are of any kind.
    """
    rng = np.random.default_rng([seed, *f"{search} {kind} {first}".encode()])
    asked = {"search": search, "kind": kind, "seed": seed}
    whole, measures = folder / "whole.db", folder / "measures.json"
    ended = run_job(run_to_end, {**asked, "path": str(whole), "measures": str(measures)})
    if ended.code or ended.hung:
        return KilledRun(0, 0, "", 0, 0, 0, 0, 0, ended.left, f"the undisturbed run {_how(ended)}")
    size = json.loads(measures.read_text(encoding="utf-8"))
    for attempt in range(_TRIES):  # a moment in time can come too late
        path = folder / f"killed_{attempt}.db"
        run = _Disturbed(run_job, asked, path, size, rng)
        run.go_on(first, share=0.5**attempt)
        if run.kills or run.wrong:
            break
    return run.judged(None if kind == ASYNCHRONOUS else whole)


class _Disturbed:
    """A run, from its first kill to its end."""

    def __init__(
        self,
        run_job: Callable[..., Ended],
        asked: dict[str, Any],
        path: Path,
        size: dict[str, float],
        rng: np.random.Generator,
    ):
        self._run_job, self._asked, self.path, self._size, self._rng = run_job, asked, path, size, rng
        self.kills = self._inside = self._left = self._unread = 0
        self._lost: set[int] = set()
        self._moments: list[str] = []
        self.wrong = ""

    def go_on(self, moment: Moment, share: float) -> None:
        """Kill and resume until the run ends; `share` of the whole is where the first kill comes at the latest."""
        most = int(self._rng.integers(1, _MOST_KILLS + 1))
        # a worker that still imports ends once it sees that its parent has gone; those of an executor may stay
        patience = 1.0 if self._asked["kind"] in ("processes", ASYNCHRONOUS) else 60.0
        while self.kills < most:
            arguments, delay, text = self._drawn(moment, share)
            ended = self._run_job(
                run_to_end, {**self._asked, "path": str(self.path), **arguments}, kill_after=delay, patience=patience
            )
            self._left += ended.left
            if ended.code >= 0:
                self.wrong = f"after {text}: the run {_how(ended)}" if ended.code else ""
                return
            self.kills += 1
            self._inside = _size(f"{self.path}.inside")
            self._moments.append(text)
            self._look()
            moment, share = MOMENTS[int(self._rng.integers(len(MOMENTS)))], 1.0
        ended = self._run_job(
            run_to_end,
            {**self._asked, "path": str(self.path)},
            at_most=_PATIENCE * (1 + self._size["seconds"]),
            patience=patience,
        )
        self._left += ended.left
        if ended.code:
            self.wrong = f"after {self._moments[-1]}: the resumed run {_how(ended)}"

    def _drawn(self, moment: Moment, share: float) -> tuple[dict[str, int], float | None, str]:
        at = share * self._rng.random()
        if moment == "time":
            seconds = at * self._size["seconds"]
            return {}, seconds, f"{seconds:.4f} s"
        number = 1 + int(at * self._size[f"{moment}s"])
        return {f"at_{moment}": number}, None, f"{moment} {number}"

    def _look(self) -> None:
        """Compare what the record has now with what had been told."""
        self._look_for_lost()
        told = [number for number, *_ in _noted(self.path)]
        self._unread += bool(told) and _n_read(self.path) <= max(told)

    def judged(self, whole: Path | None) -> KilledRun:
        """Compare the end with the undisturbed run's, or where none is to be the same only account for all trials."""
        told = [number for number, *_ in _noted(self.path)]
        wrong = self.wrong or self._difference(whole) or ("" if self.kills else "it was never killed")
        return KilledRun(
            self.kills, self._inside, ", ".join(self._moments), len(set(told)), len(self._lost), self._unread,
            len(told) - len(set(told)),
            _size(f"{self.path}.evaluated") - len(dict(_recorded(self.path))), self._left, wrong,
        )  # fmt: skip

    def _difference(self, whole: Path | None) -> str:
        self._look_for_lost()
        if not is_sound(self.path):
            return "SQLite finds the record damaged"
        cells = record_cells(self.path)
        if whole is not None:
            return first_difference(cells, record_cells(whole))
        states = [state for _, (state, _) in _recorded(self.path)]
        return "trials are left running" if "running" in states else ""

    def _look_for_lost(self) -> None:
        recorded = dict(_recorded(self.path))
        self._lost |= {number for number, *told in _noted(self.path) if recorded.get(number) != told}


def _size(path: str) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


def _noted(path: Path) -> Iterator[list[Any]]:
    """Return (number, state, values) of each trial that tell had returned from; a line that was being written is none."""
    file = Path(f"{path}.told")
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []:
        if line.endswith("\n"):
            yield json.loads(line)


def _recorded(path: Path) -> list[tuple[int, list[Any]]]:
    """Return number, state and values of each trial of a record, by SQLite alone; none of a damaged or empty file."""
    if not path.exists() or not is_sound(path):
        return []
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchone():
            return []
        rows = connection.execute(
            "SELECT kind, number, content FROM events WHERE kind IN ('asked', 'told') ORDER BY position"
        ).fetchall()
    found: dict[int, list[Any]] = {}
    for kind, number, content in rows:
        found[number] = ["running", None] if kind == "asked" else _ended(json.loads(content)["outcome"])
    return sorted(found.items())


def _ended(outcome: dict[str, Any]) -> list[Any]:
    values = outcome.get("values") if "value" not in outcome else [outcome["value"]]
    return [outcome["state"], values]


def _n_read(path: Path) -> int:
    """Return how many trials a reader finds."""
    try:
        return len(load_study(path).trials)
    except StorageError:
        return 0


def _how(ended: Ended) -> str:
    return f"hung for {ended.seconds:.0f} s" if ended.hung else f"ended with {ended.code}"


_SEARCHES = (*ONE_OBJECTIVE, *SEVERAL_OBJECTIVES)


def chosen_runs(n_runs: int, n_asynchronous: int, seed: int) -> Iterator[tuple[str, str, int, Moment]]:
    """Yield (search, kind, seed, first moment) of runs, such that each search and kind comes as often as the others.

    The seed is that of the first round; each further round has the next.

    Examples
    --------
    >>> list(chosen_runs(1, 1, 7))
    [('kriging', 'sequential', 7, 'statement'), ('kriging', 'asynchronous', 7, 'statement')]
    """
    columns = [[(search, kind) for kind in kinds_of(search)] for search in _SEARCHES]
    # all searches in their first kind, then in their second: the first runs are not all of one search
    repeatable = [pair for row in zip_longest(*columns) for pair in row if pair is not None]
    asynchronous = [(search, ASYNCHRONOUS) for search in _SEARCHES]
    for pairs, n in ((repeatable, n_runs), (asynchronous, n_asynchronous)):
        yield from islice(_rounds(pairs, seed), n)


def _rounds(pairs: Sequence[tuple[str, str]], seed: int) -> Iterator[tuple[str, str, int, Moment]]:
    number = 0
    while True:
        for search, kind in pairs:
            yield search, kind, seed + number // len(pairs), MOMENTS[(number + number // len(pairs)) % len(MOMENTS)]
            number += 1
