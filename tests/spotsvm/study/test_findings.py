import math
import pickle

import numpy as np
import pytest

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, StorageError
from tests.spotsvm.study.record.records import edit

SPACE = {"x": [1, 2, 3]}
FINDING = {"text": "é", "number": 0.1 + 0.2, "deep": [{"a": None, "b": [True, 3]}], "pair": (1, 2), "low": -math.inf}
READ = FINDING | {"pair": [1, 2]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "study.db"


def new(path=None):
    return Study(SPACE, "random", 0, path=path)


@pytest.mark.parametrize("close_first", [False, True])
def test_a_finding_is_read_back(path, close_first):
    with new(path) as study:
        study.run(lambda p: p["x"], n_trials=2)
        assert study.findings == {}
        if close_first:
            study.close()
        study.add_finding("one", FINDING)
        assert study.findings == {"one": READ}
    with new(path) as again:
        assert again.findings == {"one": READ}
        assert again.n_finished == 2
        again.add_finding("two", {"none": math.nan})
    read = load_study(path).findings
    assert read["one"] == READ
    assert math.isnan(read["two"]["none"])


def test_a_later_one_takes_the_place_of_an_earlier_and_the_order_is_that_of_names(path):
    with new(path) as study:
        for name, k in (("b", 1), ("a", 2), ("b", 3)):
            study.add_finding(name, {"k": k})
    with new(path) as again:
        assert list(study.findings.items()) == list(again.findings.items()) == [("a", {"k": 2}), ("b", {"k": 3})]


def test_what_is_given_out_is_a_copy(path):
    with new(path) as study:
        given = {"list": [1]}
        study.add_finding("one", given)
        given["list"].append(2)
        study.findings["one"]["list"].append(3)
        assert study.findings == {"one": {"list": [1]}}
        copied = pickle.loads(pickle.dumps(study))
        copied.add_finding("two", {})
        assert list(copied.findings) == ["one", "two"]
    with new(path) as again:
        assert list(again.findings) == ["one"]


@pytest.mark.parametrize(
    ("name", "finding", "words"),
    [
        ("one", {"a": {"b": [1, np.int64(2)]}}, r"one: a: b\[1\] is int64, which is not JSON"),
        ("one", {"a": {1, 2}}, "one: a is set, which is not JSON"),
        ("one", {"a": {3: 4}}, "one: a: the key 3 is int; use text"),
        ("one", [1, 2], r"finding one=\[1, 2\] is list; use a mapping"),
        *((name, {}, "is not the name of a finding") for name in ("", "two\nlines", 3, None)),
    ],
)
def test_what_is_not_json_is_refused_and_not_kept(name, finding, words):
    study = new()
    with pytest.raises(ArgumentError, match=words):
        study.add_finding(name, finding)
    assert study.findings == {}


def test_what_the_record_cannot_take_is_not_kept(path):
    study = new(path)
    study.close()
    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(StorageError, match="study.db: the record is not there any more"):
        study.add_finding("one", {})
    assert study.findings == {}


def test_a_damaged_one_is_said_to_be(path):
    with new(path) as study:
        study.add_finding("one", {})
    edit(path, "noted", lambda content: content.update(finding=3))
    with pytest.raises(StorageError, match="its finding is 3"):
        new(path)
