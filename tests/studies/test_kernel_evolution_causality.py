import numpy as np
import pandas as pd
import pytest

from studies.kernel_evolution_causality import STEPS, causality_table, step_changes
from studies.kernel_evolution_data import LabelledSet
from studies.kernel_evolution_findings import on_causality
from studies.kernel_evolution_tables import ALL_SETS


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return [LabelledSet(name, rng.normal(3.0, 5.0, size=(60, 4)), np.repeat([0, 1], 30)) for name in ("first", "second")]


@pytest.fixture(scope="module")
def steps(data):
    return step_changes(data, ("paper", "psd"), 6, seed=0)


def test_every_step_is_a_row(data, steps):
    assert (steps.groupby(["set", "grammar", "walk"]).size() == STEPS).all()
    assert len(steps) == 2 * 2 * 6 * STEPS
    # of two semidefinite matrices the alignment is between 0 and 1
    assert steps.change.dropna().between(-1e-9, 1 + 1e-9).all()
    assert (steps.tries >= 1).all()
    pd.testing.assert_frame_equal(steps, step_changes(data, ("paper", "psd"), 6, seed=0))
    assert not steps.change.equals(step_changes(data, ("paper", "psd"), 6, seed=1).change)


def test_small_steps_are_smaller_than_the_papers(steps):
    table = causality_table(steps).set_index(["grammar", "set"])
    assert table.loc[("psd", ALL_SETS), "median"] < table.loc[("paper", ALL_SETS), "median"] / 10
    assert table.loc[("psd", ALL_SETS), "unchanged"] < table.loc[("paper", ALL_SETS), "unchanged"]


def test_the_table_is_of_the_steps():
    steps = pd.DataFrame({"set": "a", "grammar": "psd", "change": [0.0, 0.1, 0.2, 0.6, np.nan], "tries": [1, 1, 1, 2, 5]})
    (row,) = causality_table(steps).to_dict("records")
    assert (row["steps"], row["unchanged"], row["above 0.1"], row["above 0.5"]) == (5, 0.25, 0.5, 0.25)
    assert (row["median"], row["draws"], row["no child"]) == (0.2, 2.0, 0.2)
    text = on_causality(causality_table(steps))
    assert "psd changes nothing in 25 % of the steps, and else by 0.2 in the median, by more than 0.5 in 25 % of all" in text


def test_without_steps_nothing_is_said():
    empty = causality_table(step_changes([], (), 1, 0))
    assert len(empty) == 0
    assert on_causality(empty) == ""
