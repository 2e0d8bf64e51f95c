import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.acid.data import CLASS_SIZES, acid_data, classes_by_share, simulated_spectra, split_by_class
from spotsvm.studies.common.data import data_from


def test_spectra_and_split_are_of_the_papers_size():
    data = acid_data("simulated")
    assert (len(data.train), len(data.test)) == (3326, 1109)
    assert not np.intersect1d(data.train, data.test).size
    for c, size in enumerate(CLASS_SIZES, 1):
        assert np.sum(data.y[data.train] == c) == pytest.approx(size * 3326 / 4437, abs=1)
    X, concentration, y = simulated_spectra()
    assert X.shape == (4437, 212)
    assert np.bincount(y)[1:].tolist() == list(CLASS_SIZES) == [228, 1528, 1880, 731, 70]
    assert np.isfinite(X).all()
    assert (concentration > 0).all()


def test_copies_are_never_parted():
    y = np.repeat([1, 2, 1, 2], 10)
    copies = np.tile(np.arange(20), 2)
    for seed in range(20):
        train, later = split_by_class(np.arange(40), y, copies, 0.8, 0.2, seed)
        assert not np.intersect1d(copies[train], copies[later]).size
        assert len(train) == 32


def test_classes_have_the_shares_and_equal_values_one_class():
    rng = np.random.default_rng(0)
    y = classes_by_share(rng.random(4437), CLASS_SIZES)
    assert np.abs(np.bincount(y)[1:] - CLASS_SIZES).max() <= 1
    values = rng.integers(8, size=500).astype(float)
    y = classes_by_share(values, CLASS_SIZES)
    assert all(len(set(y[values == v])) == 1 for v in range(8))
    assert (np.diff(y[np.argsort(values)]) >= 0).all()


@pytest.mark.data
def test_the_real_spectra():
    data = acid_data("tecator")
    assert data.X.shape == (240, 100)
    assert set(data.y) == {1, 2, 3, 4, 5}
    assert len(np.unique(data.copies)) == 216, "24 of the spectra repeat an earlier one"
    assert not np.intersect1d(data.copies[data.train], data.copies[data.test]).size
    assert set(data.y[data.train]) == set(data.y[data.test]) == {1, 2, 3, 4, 5}


def test_a_folder_without_them(tmp_path):
    with data_from(tmp_path), pytest.raises(DataError, match="there is no tecator.csv"):
        acid_data("tecator")
    pd.DataFrame({"a1": [1.0], "y": [2.0]}).to_csv(tmp_path / "tecator.csv", index=False)
    with data_from(tmp_path), pytest.raises(DataError, match="a1 to a100 and y are needed"):
        acid_data("tecator")


@pytest.mark.parametrize("arguments", [{"class_sizes": [5]}, {"class_sizes": [5, 0]}, {"noise": -0.1}])
def test_bad_input(arguments):
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        simulated_spectra(**arguments)
