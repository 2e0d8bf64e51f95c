import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import ArgumentError
from spotsvm.multi_kernel.models.column_groups import group_names, resolve_groups

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "groups",
    [
        {"x": [0, 2], "y": [1, 3]},
        {"x": np.array([2, 0]), "y": (3, 1)},
        {"x": slice(0, 4, 2), "y": slice(1, None, 2)},
        {"x": ["a", "c"], "y": ["d", "b"]},
        {"x": pd.Index(["c", "a"]), "y": [-1, -3]},
        {"x": [True, False, True, False], "y": np.array([False, True, False, True])},
        {"x": range(0, 4, 2), "y": ["b", 3]},
    ],
    ids=["indices", "arrays", "slices", "names", "index", "masks", "mixed"],
)
def test_columns_in_every_form(groups):
    assert resolve_groups(groups, 4, NAMES) == {"x": (0, 2), "y": (1, 3)}
    assert resolve_groups(list(groups.values()), 4, NAMES) == {"0": (0, 2), "1": (1, 3)}


def test_columns_without_names_and_all_of_them():
    assert resolve_groups({"x": "b", "y": 0}, 2, ["a", "b"]) == {"x": (1,), "y": (0,)}
    assert resolve_groups(None, 3) == {"all": (0, 1, 2)}
    with pytest.raises(ArgumentError, match="group 'x' has the column 'a', but the data have no names"):
        resolve_groups({"x": ["a"]}, 1)
    with pytest.raises(ArgumentError, match="column 1 is in no group"):
        resolve_groups({"x": [0]}, 2)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_any_partition_is_found_again(owners):
    groups = {str(g): [k for k, owner in enumerate(owners) if owner == g] for g in sorted(set(owners))}
    found = resolve_groups(groups, len(owners))
    assert found == {name: tuple(columns) for name, columns in groups.items()}
    assert group_names(groups) == tuple(found)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"x": [0, 1], "y": [1, 2, 3]}, r"column 'b' \(1\) is in the groups 'x' and 'y'"),
        ({"x": [0, 1, 0], "y": [2, 3]}, r"column 'a' \(0\) is twice in the group 'x'"),
        ({"x": [0, 1], "y": [3]}, r"column 'c' \(2\) is in no group"),
        ({"x": [0, 1, 2, 3], "y": []}, "group 'y' is empty"),
        ({"x": slice(0, 4), "y": slice(4, 6)}, "group 'y' is empty"),
        ({"x": ["a", "e"]}, "group 'x' has the column 'e', which is not there; there are 'a', 'b', 'c', 'd'"),
        ({"x": [0, 4]}, "group 'x' has the column 4, but there are 4 columns"),
        ({"x": [0, -5]}, "group 'x' has the column -5"),
        ({"x": [0.5]}, "group 'x' has the column 0.5"),
        ({"x": 1.5}, "group 'x' is 1.5"),
        ({"x": slice("a", "c")}, "group 'x' is slice"),
        ({"x": [True, False]}, "group 'x' is a mask of 2 columns; there are 4"),
        ({1: [0, 1, 2, 3]}, "groups has the name 1"),
        ({"": [0, 1, 2, 3]}, "groups has the name ''"),
        ({}, "groups is empty"),
        ([], "groups is empty"),
        ("abcd", "groups='abcd'; use a dict"),
        (3, "groups=3; use a dict"),
    ],
)
def test_what_is_no_partition_is_told(groups, message):
    with pytest.raises(ArgumentError, match=message):
        resolve_groups(groups, 4, NAMES)
