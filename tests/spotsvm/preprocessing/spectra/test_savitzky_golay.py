import numpy as np
import pytest
from scipy.signal import savgol_filter

from spotsvm import SavitzkyGolay
from spotsvm.errors import ArgumentError

SPECTRA = np.random.default_rng(0).normal(size=(5, 40)).cumsum(axis=1)


@pytest.mark.parametrize(("window", "degree", "deriv"), [(15, 2, 0), (7, 3, 2), (6, 2, 1), (1, 0, 0)])
def test_scipy_s_filter(window, degree, deriv):
    found = SavitzkyGolay(window, polyorder=degree, deriv=deriv).fit(SPECTRA[:2]).transform(SPECTRA)
    np.testing.assert_allclose(found, savgol_filter(SPECTRA, window, degree, deriv=deriv), rtol=1e-12)


def test_derivatives_remove_an_offset_and_a_slope():
    tilted = SPECTRA + 3.0 + 0.2 * np.arange(40)
    first, second = (SavitzkyGolay(deriv=deriv).fit(SPECTRA) for deriv in (1, 2))
    np.testing.assert_allclose(first.transform(tilted), first.transform(SPECTRA) + 0.2)
    np.testing.assert_allclose(second.transform(tilted), second.transform(SPECTRA), atol=1e-12)


def test_fewer_columns_than_the_window():
    few = SPECTRA[:, :2]
    np.testing.assert_allclose(SavitzkyGolay(15).fit_transform(few), few)
    np.testing.assert_allclose(SavitzkyGolay(15, deriv=2).fit_transform(few), 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window_length": 0}, "window_length=0; use a whole number, 1 or more"),
        ({"window_length": 2}, "polyorder=2 is not below window_length=2; use a wider window"),
        ({"polyorder": -1}, "polyorder=-1; use a whole number, 0 or more"),
        ({"deriv": 3}, "deriv=3 is above polyorder=2"),
        ({"deriv": 1.5}, "deriv=1.5; use a whole number"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        SavitzkyGolay(**arguments).fit(SPECTRA)
