"""Write CSV files: numbers to the last bit, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

from numbers import Number
from pathlib import Path
from typing import IO, Any

import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.file_paths import checked_path
from spotsvm.printable import printable

#: characters with which a formula begins; some spreadsheets accept the full-width ones too
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_csv(frame: pd.DataFrame, target: str | Path | IO[str], what: str) -> None:
    r"""Write a frame as CSV (UTF-8, a header row, no index); the library writes all its CSV files with this function.

    Numbers are written with enough digits to be read back exactly. Text that a spreadsheet would take for a formula gets a
    leading apostrophe, which the spreadsheet does not show; text that is a number, such as "-1", is not changed. Control
    characters except tabs and line feeds are written as escapes, such as \x1b.

    Parameters
    ----------
    frame : DataFrame
        The table.
    target : path-like or text stream
        The file or stream to write to.
    what : str
        Name of the table in error messages.

    Raises
    ------
    ArgumentError
        If the target is neither a path nor a stream.
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
            f"the {what} cannot be written in {getattr(target, 'encoding', 'this encoding')}; write it to a file"
        ) from None


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame as `write_csv` writes it: with text and column names that no spreadsheet takes for a formula."""
    columns = [frame.iloc[:, k].reset_index(drop=True) for k in range(frame.shape[1])]
    safe = [c if pd.api.types.is_numeric_dtype(c.dtype) else c.astype(object).map(_safe) for c in columns]
    out = pd.DataFrame(dict(enumerate(safe)), index=range(len(frame)))
    out.columns = pd.Index([_safe(name) for name in frame.columns])
    return out


def _safe(cell: Any) -> Any:
    if cell is None or isinstance(cell, Number):
        return cell
    # a lone carriage return would not be quoted, and end the row; control characters would act on a terminal
    text = printable((cell if isinstance(cell, str) else str(cell)).replace("\r\n", "\n").replace("\r", "\n"))
    # spreadsheets ignore leading white space
    if (text[:1] in ("\t", "\n") or text.lstrip().startswith(_FORMULA)) and not _is_number(text):
        text = f"'{text}"
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
