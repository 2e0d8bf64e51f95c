import numpy as np
import pytest

from spotsvm.errors import ArgumentError
from studies.acid_spectra import CLASS_SIZES, simulated_spectra

SMALL = (12, 80, 100, 40, 6)


def test_the_size_and_the_classes_are_those_of_the_paper():
    X, concentration, y = simulated_spectra()
    assert X.shape == (4437, 212)
    assert np.bincount(y)[1:].tolist() == list(CLASS_SIZES) == [228, 1528, 1880, 731, 70]
    assert np.isfinite(X).all()
    assert (concentration > 0).all()


def test_a_seed_gives_the_same_data_and_another_one_other_data():
    first, again, other = simulated_spectra(3, SMALL), simulated_spectra(3, SMALL), simulated_spectra(4, SMALL)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


def test_classes_are_ranges_of_the_concentration():
    _, concentration, y = simulated_spectra(0, SMALL)
    for c in range(1, 5):
        assert concentration[y == c].max() < concentration[y == c + 1].min()


def test_spectra_are_smooth_but_for_the_noise_and_neighbours_alike():
    quiet, noisy = simulated_spectra(0, SMALL, noise=0.0).X, simulated_spectra(0, SMALL, noise=0.01).X
    assert np.abs(np.diff(quiet, 2, axis=1)).max() < 0.05
    neighbours = [np.corrcoef(quiet[:, k], quiet[:, k + 1])[0, 1] for k in range(0, 211, 10)]
    assert min(neighbours) > 0.99
    assert 0.01 < np.std(noisy - quiet) < 0.05


def test_more_acid_absorbs_more_in_the_far_uv_and_not_in_the_red():
    X, concentration, _ = simulated_spectra(0, SMALL)
    assert np.corrcoef(np.log(concentration), X[:, 0])[0, 1] > 0.4
    assert abs(np.corrcoef(np.log(concentration), X[:, -1])[0, 1]) < 0.2


def test_stray_light_bounds_the_absorbance():
    # 10 ** -2 of the light is stray at most, so that no more than an absorbance of 2.2 can be seen
    assert simulated_spectra(0, SMALL, noise=0.0).X.max() < 2.2


@pytest.mark.parametrize("arguments", [{"class_sizes": [5]}, {"class_sizes": [5, 0]}, {"noise": -0.1}])
def test_bad_input(arguments):
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        simulated_spectra(**arguments)
