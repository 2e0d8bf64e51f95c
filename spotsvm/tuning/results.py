"""The files that a tuning writes: comparison, trials, fold scores, parameters and report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.common.errors import StorageError
from spotsvm.tuning.held_out import HeldOutResult


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
    """Write comparison.csv, the trials, fold scores and parameters of each search, and report.html; return the files."""
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


#: the name under which a study stores the result on the held-out rows
HELD_OUT = "held-out rows"


def write_tuning_report(results: Sequence[HeldOutResult], out: Path) -> list[Path]:
    """Write report.html of the last search, if there is one, into a folder; return the file.

    The result on the held-out rows is stored in the study as its finding "held-out rows", which the report shows. A random search
    among the results is the baseline.
    """
    final = results[-1]
    if final.search is None:
        return []
    study = final.search.study_
    study.add_finding(HELD_OUT, held_out_finding(final))
    drawn = [c.search.study_ for c in results[:-1] if c.search is not None and c.name == "random"]
    usable = [one for one in drawn if any(t.value is not None for t in one.trials)]
    return [study.report(out / "report.html", usable[0] if usable else None)]


def held_out_finding(final: HeldOutResult) -> dict[str, Any]:
    """Return the result on the held-out rows, as a finding of its study."""
    numbers = {"tuned score": final.tuned_score, "score on held-out rows": final.test_score, "standard error": final.test_error}
    if not isfinite(final.gap) or not isfinite(final.test_error):
        return {"sentence": "The held-out rows are too few to judge the tuned score.", **numbers}
    text = (
        f"On the held-out rows, which no search has used, the tuned machine scores {final.test_score:.4f} (standard error "
        f"{final.test_error:.4f}); its tuned score is {final.tuned_score:.4f}."
    )
    if final.gap <= 0:
        return {"sentence": f"{text} So the tuned score is not too optimistic.", **numbers}
    size = "within" if final.gap <= 2 * final.test_error else "more than"
    return {"sentence": f"{text} The difference, {final.gap:.4f}, is {size} two standard errors.", **numbers}
