"""How tables are written as CSV: numbers to the last bit, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

from numbers import Number
from pathlib import Path
from typing import IO, Any

import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.file_paths import checked_path
from spotsvm.printable import printable

#: what a formula begins with, full-width signs among it, which some spreadsheets take for the same
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_csv(frame: pd.DataFrame, target: str | Path | IO[str], what: str) -> None:
    r"""Write a frame as CSV (UTF-8, a header row, no index); all CSV files of the library come from here.

    A number is written with as many digits as tell it from all others. A text that a spreadsheet would take for a formula
    gets an apostrophe before it, which the spreadsheet does not show; a text that is a number, such as "-1", is left alone.
    Control characters, but for tabs and line feeds, are written as escapes, such as \x1b.

    Parameters
    ----------
    frame : DataFrame
        What to write.
    target : path-like or text stream
        Where to.
    what : str
        What it is, for the error's text.

    Raises
    ------
    ArgumentError
        If the target is neither.
    StorageError
        If the file cannot be written.

    References
    ----------
    OWASP, "CSV Injection".

    Examples
    --------
    >>> import sys
    >>> write_csv(pd.DataFrame({"x": [-0.1, 1e-300], "reason": ["=cmd()", "-1"]}), sys.stdout, "table")
    x,reason
    -0.1,'=cmd()
    1e-300,-1
    """
    if not hasattr(target, "write"):
        target = checked_path(target, such_as="table.csv")
    try:
        safe_frame(frame).to_csv(target, index=False, lineterminator="\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{target}: cannot write the {what}: {error.strerror or error}") from error
    except UnicodeEncodeError:  # a terminal with an encoding of its own
        raise StorageError(
            f"the {what} cannot be written in {getattr(target, 'encoding', 'this encoding')}; name a file"
        ) from None


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a frame as `write_csv` writes it: with text, column names included, that no spreadsheet takes for a formula."""
    columns = [frame.iloc[:, k].reset_index(drop=True) for k in range(frame.shape[1])]
    safe = [c if pd.api.types.is_numeric_dtype(c.dtype) else c.astype(object).map(_safe) for c in columns]
    out = pd.DataFrame(dict(enumerate(safe)), index=range(len(frame)))
    out.columns = pd.Index([_safe(name) for name in frame.columns])
    return out


def _safe(cell: Any) -> Any:
    if cell is None or isinstance(cell, Number):
        return cell
    # a carriage return alone would not be quoted, and end the row; other signs that steer would do so in a terminal
    text = printable((cell if isinstance(cell, str) else str(cell)).replace("\r\n", "\n").replace("\r", "\n"))
    # spreadsheets look past white space at its beginning
    if (text[:1] in ("\t", "\n") or text.lstrip().startswith(_FORMULA)) and not _is_number(text):
        text = f"'{text}"
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
