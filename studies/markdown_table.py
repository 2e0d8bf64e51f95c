"""Tables as markdown."""

from __future__ import annotations

import pandas as pd

from spotsvm.printable import printable


def markdown_table(table: pd.DataFrame, floatfmt: str = ".4g", missing: str = "nan") -> str:
    r"""Give a table as markdown, without its index; bars and control characters in names and texts are escaped.

    Parameters
    ----------
    table : DataFrame
        The table.
    floatfmt : str, default=".4g"
        How numbers are shown.
    missing : str, default="nan"
        What is shown for a missing value.

    Examples
    --------
    >>> print(markdown_table(pd.DataFrame({"kernel": ["|x_i|^2"], "max|f|": [0.5]})))
    | kernel    |   max\|f\| |
    |:----------|-----------:|
    | \|x_i\|^2 |        0.5 |
    """
    cells = table.map(_escaped).rename(columns=_escaped)
    if table.isna().any(axis=None):
        cells = cells.astype(object).where(cells.notna(), None)
    text: str = cells.to_markdown(index=False, floatfmt=floatfmt, missingval=missing)
    return text


def _escaped(cell: object) -> object:
    # a line feed would end the row
    return printable(" ".join(cell.splitlines())).replace("|", r"\|") if isinstance(cell, str) else cell
