"""The files that a tuning writes: comparison, trials, fold scores, parameters and report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.contestant import HeldOutResult
from spotsvm.csv_files import write_csv
from spotsvm.errors import StorageError
from spotsvm.tuning_report import write_tuning_report


def comparison(results: list[HeldOutResult]) -> pd.DataFrame:
    """Return a frame with one row per result: name, tuned_score, test_score, test_error, gap."""
    rows = [(c.name, c.tuned_score, c.test_score, c.test_error, c.gap) for c in results]
    return pd.DataFrame(rows, columns=["search", "tuned_score", "test_score", "test_error", "gap"])


def check_writable(out: Path) -> None:
    """Create the folder, and raise StorageError if it is not writable: better now than after hours of tuning."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise StorageError(f"--out {out}: cannot write to this folder: {error.strerror or error}") from error


def write_results(results: list[HeldOutResult], out: Path) -> list[Path]:
    """Write comparison.csv, the trials, fold scores and parameters of each search, and report.html; return the files.

    Raises
    ------
    StorageError
        If a file cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        files = [out / "comparison.csv"]
        write_csv(comparison(results), files[0], "comparison")
        for c in results:
            if c.search is not None:
                files += [out / f"{c.name}_{what}" for what in ("trials.csv", "folds.csv", "parameters.json")]
                c.search.study_.to_csv(files[-3])
                c.search.study_.folds_to_csv(files[-2])
                files[-1].write_text(json.dumps(_plain(c.estimator.get_params(deep=True)), indent=2) + "\n")
        files += write_tuning_report(results, out)
    except (OSError, StorageError) as error:
        raise StorageError(f"--out {out}: cannot write to this folder: {getattr(error, 'strerror', None) or error}") from error
    return files


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON types; the repr of an estimator."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in sorted(params.items())}
