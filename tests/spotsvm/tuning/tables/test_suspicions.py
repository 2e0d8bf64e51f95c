import numpy as np
import pandas as pd
import pytest

from spotsvm.tuning.tables.suspicions import suspicions
from spotsvm.tuning.tables.table import make_table

N = 90
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=N), "town": RNG.choice(["Ulm", "Bonn", "Rom"], N)})
LABELS = pd.Series(RNG.choice(["x", "y"], N), name="kind")
NUMBERS = pd.Series(RNG.normal(size=N), name="level")


def found(frame, y=LABELS, task="auto"):
    return list(suspicions(make_table(frame, y, task)))


@pytest.mark.parametrize("y", [LABELS, NUMBERS], ids=["classes", "numbers"])
def test_nothing_is_suspicious(y):
    X_gaps = X.assign(gap=X["a"].where(RNG.random(N) > 0.2), whole=RNG.permutation(N) // 2, big=1e90 * X["a"])
    assert found(X_gaps, y) == []


def test_constant_columns():
    frame = X.assign(same=1.5, word="w")
    (said,) = found(frame)
    assert said.startswith("columns 'same', 'word' have the same value in all rows")


@pytest.mark.parametrize("column", [range(N), range(N, 0, -1), np.arange(N) ** 2, RNG.permutation(N) + 7])
def test_identifiers(column):
    (said,) = found(X.assign(number=column))
    assert said.startswith("column 'number' has another whole number in each row, like an identifier")
    assert found(X.assign(number=column)[:10], LABELS[:10]) == []


@pytest.mark.parametrize("many", [0, 40])
def test_a_column_that_gives_the_target_away(many):
    frame = X.assign(**{f"n{k}": RNG.normal(size=N) for k in range(many)})
    code = LABELS.map({"x": 0.5, "y": -0.5}) + 0.1 * RNG.random(N)
    for leak in (code, code.where(LABELS == "x"), LABELS.map({"x": "good", "y": "bad"})):
        (said,) = found(frame.assign(leak=leak))
        assert said.startswith("column 'leak' alone predicts the target nearly perfectly (balanced accuracy 1.000 in 3 folds)")
    (said,) = found(frame.assign(leak=3 * NUMBERS + 2), pd.Series(NUMBERS.round(1) + 0.01 * NUMBERS, name="level"))
    assert "'leak' alone predicts the target nearly perfectly (R2 0.99" in said


def test_whole_numbers_as_target():
    (said,) = found(X, pd.Series(np.arange(N) % 5, name="y"))
    assert said == "the target 'y' has 5 different whole numbers, taken as classes; use --task regression for a quantity"
    (said,) = found(X, pd.Series(RNG.integers(0, 8, N), name="y"), "regression")
    assert "only 8 different whole numbers, taken as a quantity; use --task classification" in said
    assert found(X, pd.Series(np.arange(N) % 2, name="y")) == []
