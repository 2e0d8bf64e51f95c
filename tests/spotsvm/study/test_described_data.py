"""Data that an earlier version described in another way."""

import pytest
from completed_trials import SVM as SPACE

from spotsvm import Study
from spotsvm.common.data_hash import data_hash
from spotsvm.errors import StudyMismatchError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


ONE_OBJECTIVE = [(search, stop, 16, 4) for search in ("kriging", "random", "cmaes", "lbfgsb", "own") for stop in (8, 9, 11)]
BASE = {"space": SPACE, "search": "random", "seed": 0, "direction": "minimize", "noise": "auto", "context": {"data": "abc"}}


def test_data_that_an_earlier_version_described_in_another_way_are_told_with_its_name(path):
    Study(**BASE | {"context": {"data": "5eb63bbbe01eeed093cb22bb8f5acdc3"}}, path=path).close()
    with pytest.raises(StudyMismatchError, match=r"was begun by spotsvm \d\S*, which described data in another way; end it with"):
        Study(**BASE | {"context": {"data": data_hash([1.0])}}, path=path)
