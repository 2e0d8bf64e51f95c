import numpy as np
import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spotsvm.studies.common.table import interval_columns, markdown_table


def test_a_table_without_bars_is_pandas_own():
    table = pd.DataFrame({"set": ["a", "b"], "error": [0.12345, 12.0], "splits": [3, 20]})
    assert markdown_table(table) == table.to_markdown(index=False, floatfmt=".4g")
    assert markdown_table(table, ".2f") == table.to_markdown(index=False, floatfmt=".2f")
    missing = pd.DataFrame({"printed": [np.nan, 0.5]})
    assert markdown_table(missing) == missing.to_markdown(index=False, floatfmt=".4g")
    assert "nan" not in markdown_table(missing, missing="")


@settings(max_examples=40)
@given(st.text(st.characters(exclude_categories=())))
@example("x")
def test_no_text_leaves_its_cell_or_steers_a_terminal(text):
    table = markdown_table(pd.DataFrame([[text, 1], ["b", 2]], columns=[text, "x"]))  # a frame may name two columns alike
    table.encode("utf-8")
    assert table.count("\n") == 3
    assert not set("\x1b\x07\r\u202e") & set(table)
    assert {line.replace(r"\|", "").count("|") for line in table.split("\n")} == {3}


def test_the_columns_with_an_interval():
    table = pd.DataFrame(columns=["set", "mean", "low", "high", "x", "x, low", "x, high"])
    assert interval_columns(table) == {"mean": ("low", "high"), "x": ("x, low", "x, high")}
