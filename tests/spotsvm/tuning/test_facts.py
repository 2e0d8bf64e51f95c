from datetime import date

import numpy as np
import pandas as pd

from spotsvm.tuning.facts import table_facts
from spotsvm.tuning.tables.table import make_table


def test_the_day_of_the_first_run_stays():
    table = make_table(pd.DataFrame({"a": np.arange(40.0), "b": 1.0}), pd.Series(["x", "y"] * 20, name="kind"))
    facts = table_facts(table, "neg_log_loss", 10, "a\x1b.csv")
    assert facts == {
        "File": "a\\x1b.csv", "Rows": "40, 10 of them held out", "Columns": 2, "Target": "kind", "Task": "classification",
        "Score": "log loss; smaller is better", "Date": date.today().isoformat(),
    }  # fmt: skip
    again = table_facts(table, "accuracy", 10, known={"Date": "2020-02-03"})
    assert again["Date"] == "2020-02-03"
    assert "File" not in again
