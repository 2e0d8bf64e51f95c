"""Later rows of a table in the types of its columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spotsvm.preprocessing.cells.findings import Finding
from spotsvm.preprocessing.cells.table_reading import TableReading
from spotsvm.preprocessing.kept_digits import has_large, has_large_integers, whole_numbers


def typed_table(reading: TableReading, table: pd.DataFrame) -> tuple[pd.DataFrame, list[Finding]]:
    """Return rows as a table of floats, time stamps and texts, in which a gap is NaN or NaT, and what was found in their cells.

    Whole numbers that may be no floats stay whole; with gaps they are integers of pandas, in which a gap is NA.
    """
    read, findings = reading.read(table)
    if not len(table):
        return table, findings
    if not read:
        # one block of memory, as pandas would otherwise process thousands of columns one by one in every fold
        values = table.to_numpy(dtype=float, na_value=np.nan)
        if not has_large(values).any():
            return pd.DataFrame(values, index=table.index, columns=table.columns), findings
    columns = {}
    for k in range(table.shape[1]):
        column = table.iloc[:, k]
        values = np.asarray(read[k]) if k in read else column.to_numpy(dtype=float, na_value=np.nan)
        columns[k] = pd.Series(values, index=table.index)
        if values.dtype.kind == "f" and has_large(values[:, None]).any():
            known = ~np.isnan(values)
            whole = whole_numbers(column[known])
            if has_large_integers(whole):
                cells = np.zeros(len(values), whole.dtype)
                cells[known] = whole
                columns[k] = pd.Series(cells if known.all() else pd.arrays.IntegerArray(cells, ~known), index=table.index)
    return pd.DataFrame(columns, index=table.index).set_axis(table.columns, axis=1), findings
