import numpy as np
import pandas as pd

from studies.markdown_table import markdown_table


def test_a_table_without_bars_is_pandas_own():
    table = pd.DataFrame({"set": ["a", "b"], "error": [0.12345, 12.0], "splits": [3, 20]})
    assert markdown_table(table) == table.to_markdown(index=False, floatfmt=".4g")
    assert markdown_table(table, ".2f") == table.to_markdown(index=False, floatfmt=".2f")


def test_bars_do_not_end_cells():
    lines = markdown_table(pd.DataFrame({"max|f|": ["1 / max|f|"], "n": [2]})).splitlines()
    assert [line.replace(r"\|", "").count("|") for line in lines] == [3, 3, 3]
    assert lines[2].startswith(r"| 1 / max\|f\| |")


def test_missing_values():
    table = pd.DataFrame({"printed": [np.nan, 0.5]})
    assert markdown_table(table) == table.to_markdown(index=False, floatfmt=".4g")
    assert "nan" not in markdown_table(table, missing="")
