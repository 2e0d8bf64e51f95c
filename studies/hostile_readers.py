"""The readers of files, each with what makes a hostile input for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.errors import DataError, SpotSVMError
from spotsvm.expression_kernel import ExpressionKernel
from spotsvm.record_tables import record_tables
from spotsvm.recorded_study import RecordedStudy
from spotsvm.salvage import salvage
from spotsvm.series_table import read_series as read_tuning_series
from spotsvm.tabular import read_table
from studies.data_folder import data_from, read_binary
from studies.hostile_records import change_bytes, change_content, make_records, resumed
from studies.hostile_studies import write_hostile_study
from studies.hostile_tables import hostile_csv, series_csv, write_hostile_csv
from studies.hostile_values import Rng, hostile_json
from studies.run_file import RunFile
from studies.stormwater_series import read_series as read_study_series

_KERNEL = (
    '{"format": "spotsvm kernel expression", "version": 1, "expression": {"block": "multiply", "arguments": [{"block": "c1"}, '
    '{"block": "gaussian", "value": 0.5}]}, "constants": {"c1": 2.0}}'
)
_TABLE = "".join(f"{line.partition(',')[2]}\n" for line in series_csv().splitlines())
_RUNS = "set,seed,error\na,0,0.5\nb,1,\n"


@dataclass(frozen=True)
class Reader:
    """A reader of files, and where its hostile inputs come from.

    Attributes
    ----------
    make : callable
        Takes a folder and a Generator; writes an input, and gives what `read` takes.
    read : callable
        Reads it; raises an error of the library where it refuses.
    share : float
        Its share of the inputs, before all shares are brought to a sum of 1.
    warm_up : callable
        Takes the folder; what has to be there before the first input.
    """

    make: Callable[[Path, Rng], Any]
    read: Callable[[Any], Any]
    share: float = 1.0
    warm_up: Callable[[Path], Any] = lambda folder: None


def _record(change: Callable[[Rng, Path, Path], None]) -> Callable[[Path, Rng], tuple[int, Path]]:
    def make(folder: Path, rng: Rng) -> tuple[int, Path]:
        place = folder / "one"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        number = int(rng.integers(5))
        change(rng, folder / f"base{number}.db", place / "study.db")
        return number, place / "study.db"

    return make


def _either(rng: Rng, base: Path, target: Path) -> None:
    (change_bytes if rng.random() < 0.3 else change_content)(rng, base, target)


def _study(folder: Path, rng: Rng) -> tuple[int, Path]:
    place = folder / "one"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    write_hostile_study(rng, place / "study.db")
    return 0, place / "study.db"


def _read_record(source: tuple[int, Path]) -> None:
    """Read a record in every way that makes no page of it."""
    failure: SpotSVMError | None = None
    for read in (record_tables, _results):
        try:
            read(source[1])
        except SpotSVMError as error:
            failure = error
    if failure is not None:
        raise failure


def _results(path: Path) -> None:
    study = RecordedStudy(path)
    study.frame()
    study.folds()
    if study.objectives.several:
        study.pareto()
    elif study.n_finished:
        _ = study.best_trial


def _salvage(source: tuple[int, Path]) -> None:
    found = salvage(source[1])
    found.frame()


def _resume(source: tuple[int, Path]) -> None:
    with resumed(*source) as study:
        study.tell(study.ask(), [0.5, 0.5] if study.objectives.several else 0.5)


def _report(source: tuple[int, Path]) -> None:
    _command("report", str(source[1]), "--out", str(source[1].with_name("r.html")), "--tables", str(source[1].with_name("t")))


def _export(source: tuple[int, Path]) -> None:
    _command("export", str(source[1]), "--csv", "-", "--folds", str(source[1].with_name("folds.csv")))


def _status(source: tuple[int, Path]) -> None:
    _command("status", str(source[1]))


def _command(*arguments: str) -> None:
    """Run the command line here; an exit code of 2 with one line is an error of ours, all else but success is none."""
    from click.testing import CliRunner

    from spotsvm.command_line import main

    result = CliRunner().invoke(main, list(arguments))
    if result.exit_code == 2 and result.stderr.count("\n") == 1:
        _check_line(result.stderr)
        raise DataError(result.stderr)
    if result.exception is not None:
        raise result.exception
    if result.exit_code != 0:
        raise RuntimeError(f"exit code {result.exit_code}: {result.stderr}")


def _check_line(line: str) -> None:
    text = line.removesuffix("\n")
    if not text.isprintable() or len(text) > 3000:
        raise RuntimeError(f"the line holds control characters, or is too long ({len(text)}): {text[:200]!r}")


def _text(base: str) -> Callable[[Path, Rng], str]:
    return lambda folder, rng: hostile_json(rng, base)


def _csv(base: str) -> Callable[[Path, Rng], Path]:
    def make(folder: Path, rng: Rng) -> Path:
        place = folder / "one"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return write_hostile_csv(rng, base, place)

    return make


def _run_file(folder: Path, rng: Rng) -> Path:
    path = folder / "runs.csv"
    path.write_bytes(hostile_csv(rng, _RUNS))
    return path


def _read_runs(path: Path) -> None:
    file = RunFile(path, {"set": str, "seed": int, "error": float})
    file.append(pd.DataFrame({"set": ["c"], "seed": [2], "error": [0.1]})) if len(file.read()) else None


def _binary_set(folder: Path, rng: Rng) -> Path:
    rows = "".join(f"{k},{k % 5},{'ab'[k % 2]},{'train' if k < 20 else 'test'}\n" for k in range(40))
    (folder / "one.csv").write_bytes(hostile_csv(rng, f"x0,x1,y,part\n{rows}"))
    return folder


def _read_set(folder: Path) -> None:
    with data_from(folder):
        read_binary("one")


READERS: dict[str, Reader] = {
    "record, bytes": Reader(_record(change_bytes), _read_record, 20, make_records),
    "record, content": Reader(_record(change_content), _read_record, 30, make_records),
    "resumed study": Reader(_record(_either), _resume, 12, make_records),
    "salvage": Reader(_record(_either), _salvage, 6, make_records),
    "export": Reader(_record(_either), _export, 10, make_records),
    "report": Reader(_record(change_content), _report, 2, make_records),
    "report of hostile texts": Reader(_study, _report, 2),
    "export of hostile texts": Reader(_study, _export, 4),
    "status": Reader(_record(_either), _status, 6, make_records),
    "table to tune on": Reader(_csv(_TABLE), lambda path: read_table(path, "level"), 12),
    "series to tune on": Reader(_csv(series_csv()), lambda path: read_tuning_series(path, "level", "time"), 12),
    "series of a study": Reader(_csv(series_csv(900)), read_study_series, 4),
    "data set of a study": Reader(_binary_set, _read_set, 4),
    "runs of a study": Reader(_run_file, _read_runs, 4),
    "kernel expression": Reader(_text(_KERNEL), ExpressionKernel.from_json, 10),
}
