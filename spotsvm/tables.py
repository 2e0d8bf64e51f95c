"""The tables of `spotsvm tune` in Python: read a file as the command does, hold rows out, and make its pipelines.

The code that `spotsvm tune` prints uses these names, so a tuning can be repeated and changed outside of the command.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from spotsvm import TunedSVC
>>> from spotsvm.tables import held_out, make_table
>>> table = make_table(*load_iris(return_X_y=True, as_frame=True))
>>> train, test = held_out(table, cv=5, seed=0)
>>> model = TunedSVC(random_state=0).fit(train.X, train.y)
>>> len(train.y), len(test.y), bool(model.score(test.X, test.y) > 0.9)
(112, 38, True)
"""

from spotsvm.tuning.large import Limits
from spotsvm.tuning.pipelines.registry import NamedPipeline, named_pipeline
from spotsvm.tuning.scoring import table_scorer
from spotsvm.tuning.tables.reading import Choices
from spotsvm.tuning.tables.series import read_series
from spotsvm.tuning.tables.split import held_out
from spotsvm.tuning.tables.table import Table, make_table, read_table

__all__ = [
    "Choices",
    "Limits",
    "NamedPipeline",
    "Table",
    "held_out",
    "make_table",
    "named_pipeline",
    "read_series",
    "read_table",
    "table_scorer",
]
