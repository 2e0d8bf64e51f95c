import numpy as np
import pandas as pd
import pytest

from spotsvm.tables import held_out, make_table
from spotsvm.tuning.tables.suspicions import suspicions

N = 90
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=N), "town": RNG.choice(["Ulm", "Bonn", "Rom"], N)})
LABELS = pd.Series(RNG.choice(["x", "y"], N), name="kind")
NUMBERS = pd.Series(RNG.normal(size=N), name="level")


def found(frame, y=LABELS, task="auto"):
    return [notice.sentence for notice in suspicions(make_table(frame, y, task))]


@pytest.mark.parametrize("y", [LABELS, NUMBERS], ids=["classes", "numbers"])
def test_nothing_is_suspicious(y):
    X_gaps = X.assign(gap=X["a"].where(RNG.random(N) > 0.2), whole=RNG.permutation(N) // 2, big=1e90 * X["a"])
    assert found(X_gaps, y) == []


def test_constant_columns():
    frame = X.assign(same=1.5, word="w")
    assert found(frame) == [f"column {name!r} is left out: it has the same value in all rows" for name in ("same", "word")]


@pytest.mark.parametrize("column", [range(N), range(N, 0, -1), np.arange(N) ** 2, RNG.permutation(N) + 7])
def test_identifiers(column):
    (said,) = found(X.assign(number=column))
    assert said.startswith("column 'number' has a different whole number in each row")
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


def codes(frame, y=LABELS, task="auto"):
    return {notice.code: notice.sentence for notice in suspicions(make_table(frame, y, task))}


def test_copies_of_rows_are_a_group_and_counted():
    """Noise rows that occur four times: by a random split nearly each held-out row would be a training row as well."""
    four = np.tile(np.arange(40), 4)
    table = make_table(X.iloc[four].reset_index(drop=True), LABELS.iloc[four].reset_index(drop=True))
    assert table.groups.tolist() == four.tolist()
    (said,) = [notice for notice in suspicions(table) if notice.code == "copies"]
    assert said.sentence == (
        "120 rows are equal to others in all columns: they stay on one side of each split; in a random split about 98 % of the "
        "held-out rows would be training rows too"
    )
    assert "groups" not in [notice.code for notice in suspicions(table)]
    train, test = held_out(table, 3, 0)
    assert not set(train.groups) & set(test.groups)


def test_rows_that_are_equal_by_chance_are_told_and_no_group():
    frame = pd.DataFrame({"deck": RNG.choice(["a", "b", "c"], 300), "child": RNG.choice(["no", "yes"], 300)})
    y = pd.Series(RNG.choice(["x", "y"], 300), name="kind")
    assert make_table(frame, y).groups is None
    said = "294 rows are equal to others in all columns, 6 of them with another target: about 100 % of the held-out rows are"
    assert codes(frame, y)["copies"].startswith(said)
    assert make_table(X, LABELS).groups is None


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_column_whose_values_tell_groups_apart_is_offered_as_groups_first(task):
    subject = np.repeat(np.arange(18), 5)
    y = pd.Series(RNG.permutation(18)[subject], name="y")
    y = y.mod(2).map({0: "x", 1: "y"}) if task == "classification" else y + 0.5
    said = codes(X.assign(subject=subject), y)["groups"]
    assert said.index("--groups subject") < said.index("--drop subject")
    assert "leak" not in codes(X.assign(subject=subject), y)
    mixed = y.sample(frac=1.0, random_state=0).reset_index(drop=True)
    assert "groups" not in codes(X.assign(subject=subject), mixed)


def test_rows_in_the_order_of_a_date_are_told_what_a_random_split_says():
    days = pd.date_range("2020-01-01", periods=N).strftime("%b %d %Y")
    assert codes(X.assign(day=days))["time"].endswith("--time-split day holds out the latest rows")
    assert codes(X.assign(day=[*days[:30], *days[:30], *days[:30]]))["time"].startswith(
        "the rows are in the order of 'day' but for 2"
    )
    assert "time" not in codes(X.assign(day=RNG.permutation(days)))
