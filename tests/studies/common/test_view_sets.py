import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.studies.common.data import read_set, read_split
from spotsvm.studies.common.view_sets import digits_by_quarters, read_ads, read_mfeat


def columns_of(data):
    return np.concatenate([np.arange(data.X.shape[1])[columns] for columns in data.groups.values()])


def test_quarters_of_the_digits_and_their_splits():
    data = digits_by_quarters()
    assert data.X.shape == (300, 64)
    assert np.array_equal(columns_of(data), np.arange(64))
    from sklearn.datasets import load_digits

    images, digit = load_digits().images[:300], load_digits().target[:300]
    assert np.array_equal(data.X[:, data.groups["upper right"]].reshape(-1, 4, 4), images[:, :4, 4:])
    assert np.array_equal(data.y == 1.0, digit % 2 == 0)
    X, y, X_test, y_test = data.split(3)
    assert (len(X), len(y), len(X_test), len(y_test)) == (200, 200, 100, 100)
    again, other = data.split(3), data.split(4)
    assert np.array_equal(X, again[0])
    assert not np.array_equal(y, other[1])
    assert X.mean(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(X_test.mean(axis=0)).max() > 1e-3


@pytest.mark.data
@pytest.mark.parametrize(("task", "n_views", "d"), [("EO", 4, 427), ("SL", 6, 649)])
def test_views_of_the_numerals_are_those_of_the_paper(task, n_views, d):
    data = read_mfeat(task, n_views)
    assert data.name == f"mfeat{task}{n_views}"
    assert data.X.shape == (2000, d)
    assert [s.stop - s.start for s in data.groups.values()] == [76, 64, 240, 47, 216, 6][:n_views]
    assert np.array_equal(columns_of(data), np.arange(d))
    assert (data.y == 1.0).sum() == 1000
    X, _, X_test, _ = data.split(0)
    assert (len(X), len(X_test)) == (1333, 667)


@pytest.mark.data
def test_advertisements_have_the_five_groups_of_the_paper():
    data = read_ads()
    assert [s.stop - s.start for s in data.groups.values()] == [457, 495, 472, 111, 19]
    assert data.X.shape == (1966, 1554)
    assert (data.y == 1.0).sum() == 368


def test_sets_are_read_whole_or_by_parts(monkeypatch, tmp_path):
    (tmp_path / "toy.csv").write_text("a,y,part\n1,0,train\n2,1,train\n3,1,test\n4,0,test\n")
    (tmp_path / "whole.csv").write_text("a,y\n1,0\n2,1\n")
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path))
    (X, y), (X_test, y_test) = read_split("toy")
    assert (X.tolist(), y.tolist()) == ([[1.0], [2.0]], [-1.0, 1.0])
    assert (X_test.tolist(), y_test.tolist()) == ([[3.0], [4.0]], [1.0, -1.0])
    with pytest.raises(DataError, match="has no column part"):
        read_split("whole")
    rows = pd.DataFrame({"x1": [0.5, 1.5, 2.5, None], "y": [3, 7, 3, 7], "part": ["train", "test", "train", "test"]})
    rows.to_csv(tmp_path / "some.csv.gz", index=False)
    rows.to_csv(tmp_path / "plain.csv", index=False)
    for name in ("some", "plain"):
        data = read_set(name)
        assert data.name == name
        assert (data.X.tolist(), data.y.tolist()) == ([[0.5], [1.5], [2.5]], [-1.0, 1.0, -1.0])
    rows.assign(x1=1.0, y=["p", "q", "r", "r"]).to_csv(tmp_path / "three.csv", index=False)
    with pytest.raises(DataError, match="column y has 3 values"):
        read_set("three")
