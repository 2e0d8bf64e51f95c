import math
import pickle

import numpy as np
import pytest

from spotsvm import ArgumentError, StorageError, Study
from spotsvm.study.ask_tell import checked_finding
from spotsvm.study.record.record import Record

SPACE = {"x": [1, 2, 3]}
FINDING = {"text": "é", "number": 0.1 + 0.2, "deep": [{"a": None, "b": [True, 3]}], "pair": (1, 2)}
READ = FINDING | {"pair": [1, 2]}


def test_in_memory():
    study = Study(SPACE, "random", 0)
    assert study.findings == {}
    study.add_finding("one", FINDING)
    assert study.findings == {"one": READ}


@pytest.mark.parametrize("close_first", [False, True])
def test_on_disk_it_is_read_back(tmp_path, close_first):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(lambda p: p["x"], n_trials=2)
        if close_first:
            study.close()
        study.add_finding("one", FINDING)
        assert study.findings == {"one": READ}
    with Study(SPACE, "random", 0, path=path) as again:
        assert again.findings == {"one": READ}
        assert again.n_finished == 2
    record = Record(path, read_only=True)
    assert record.findings() == {"one": READ}
    record.close()


def test_a_later_one_takes_the_place_of_an_earlier_and_the_order_is_that_of_names(tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        for name, k in (("b", 1), ("a", 2), ("b", 3)):
            study.add_finding(name, {"k": k})
        assert list(study.findings.items()) == [("a", {"k": 2}), ("b", {"k": 3})]
    with Study(SPACE, "random", 0, path=path) as again:
        assert list(again.findings.items()) == [("a", {"k": 2}), ("b", {"k": 3})]


def test_what_is_given_out_is_a_copy():
    study = Study(SPACE, "random", 0)
    given = {"list": [1]}
    study.add_finding("one", given)
    given["list"].append(2)
    study.findings["one"]["list"].append(3)
    assert study.findings == {"one": {"list": [1]}}


def test_pickled_copies_keep_them_and_do_not_write_to_the_record(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        study.add_finding("one", FINDING)
        copied = pickle.loads(pickle.dumps(study))
        copied.add_finding("two", {})
        assert list(copied.findings) == ["one", "two"]
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as again:
        assert list(again.findings) == ["one"]


def test_numbers_that_are_not_finite_are_kept(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        study.add_finding("one", {"low": -math.inf, "none": math.nan})
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as again:
        assert again.findings["one"]["low"] == -math.inf
        assert math.isnan(again.findings["one"]["none"])


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ({"a": {"b": [1, np.int64(2)]}}, r"one: a: b\[1\] is int64, which is not JSON"),
        ({"a": {1, 2}}, "one: a is set, which is not JSON"),
        ({"a": {3: 4}}, "one: a: the key 3 is int; use text"),
        ([1, 2], r"finding one=\[1, 2\] is list; use a mapping"),
    ],
)
def test_what_is_not_json_is_refused_and_not_kept(finding, words):
    study = Study(SPACE, "random", 0)
    with pytest.raises(ArgumentError, match=words):
        study.add_finding("one", finding)
    assert study.findings == {}


@pytest.mark.parametrize("name", ["", "two\nlines", 3, None])
def test_a_name_is_a_line_of_text(name):
    with pytest.raises(ArgumentError, match="is not the name of a finding"):
        checked_finding(name, {})


def test_what_the_record_cannot_take_is_not_kept(tmp_path):
    study = Study(SPACE, "random", 0, path=tmp_path / "folder" / "study.db")
    study.close()
    for file in (tmp_path / "folder").iterdir():
        file.unlink()
    with pytest.raises(StorageError, match="study.db: the record is not there any more"):
        study.add_finding("one", {})
    assert study.findings == {}


def test_a_damaged_one_is_said_to_be(tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        study.add_finding("one", {})
    record = Record(path)
    record.describe({"finding: one": 3})
    record.close()
    with pytest.raises(StorageError, match="the finding 'one' is not a JSON object"):
        Study(SPACE, "random", 0, path=path)
