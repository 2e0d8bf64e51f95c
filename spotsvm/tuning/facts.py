"""What a tuning is about, as a finding of its study, which the report shows first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from spotsvm.common.text import printable_line
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.tables.table import Table


def table_facts(
    table: Table, metric: str, n_held_out: int, file: str = "", known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the file, its rows and columns, the target, the score and the day, which stays as it is `known`."""
    facts: dict[str, Any] = {"File": printable_line(file, 80)} if file else {}
    return facts | {
        "Rows": f"{len(table.y)}, {n_held_out} of them held out",
        "Columns": int(table.X.shape[1]),
        "Target": printable_line(str(table.y.name), 80),
        "Task": table.task,
        "Score": f"{ScoreUnit(metric).title}; {ScoreUnit(metric).better}",
        "Date": (known or {}).get("Date", date.today().isoformat()),
    }
