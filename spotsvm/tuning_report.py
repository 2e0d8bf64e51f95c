"""The report of a tuning job: that of its search, beside the random search that it ran anyway."""

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
    """Write report.html of the last result's search, if there is one, into a folder; give the file.

    What the held-out rows say is kept with the study, as its finding "held-out rows", and so shown.

    Parameters
    ----------
    results : sequence of HeldOutResult
        As `TuningJob.run` gives them; a random search among them stands beside the last one.
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
    """Give what the held-out rows say of a result, as a finding of its study."""
    numbers = {"tuned score": final.tuned_score, "score on held-out rows": final.test_score, "standard error": final.test_error}
    if not isfinite(final.gap) or not isfinite(final.test_error):
        return {"sentence": "The held-out rows are too few to judge the tuned score.", **numbers}
    text = (
        f"On rows that no search has seen, what was tuned scores {final.test_score:.4f}, with a standard error of "
        f"{final.test_error:.4f}; the tuned score was {final.tuned_score:.4f}."
    )
    if final.gap <= 0:
        return {"sentence": f"{text} So it did not flatter.", **numbers}
    size = "within" if final.gap <= 2 * final.test_error else "more than"
    return {"sentence": f"{text} The difference, {final.gap:.4f}, is {size} two standard errors.", **numbers}
