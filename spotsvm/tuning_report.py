"""The report of a tuning: that of its search, compared with the random search of the same tuning."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spotsvm.contestant import HeldOutResult

#: the name under which a study stores the result on the held-out rows
HELD_OUT = "held-out rows"


def write_tuning_report(results: Sequence[HeldOutResult], out: Path) -> list[Path]:
    """Write report.html of the last search, if there is one, into a folder; return the file.

    The result on the held-out rows is stored in the study as its finding "held-out rows", which the report shows.

    Parameters
    ----------
    results : sequence of HeldOutResult
        As `TuningJob.run` returns them; a random search among them is compared with the last one.
    out : Path
        The folder.

    Raises
    ------
    StorageError
        If the report cannot be written.
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
