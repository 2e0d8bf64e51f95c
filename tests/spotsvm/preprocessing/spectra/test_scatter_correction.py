import numpy as np
import pytest

from spotsvm import ScatterCorrection
from spotsvm.errors import ArgumentError

rng = np.random.default_rng(0)
SPECTRA = rng.normal(size=(6, 30)).cumsum(axis=1)
#: the same spectra with another offset and path length each
SCATTERED = rng.normal(size=(6, 1)) + np.exp(rng.normal(size=(6, 1))) * SPECTRA


def test_the_standard_normal_variate_has_mean_0_and_deviation_1_in_each_spectrum():
    found = ScatterCorrection().fit_transform(SPECTRA)
    np.testing.assert_allclose(found.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=1), 1.0)


def test_multiplicative_scatter_correction_is_the_line_on_the_mean_training_spectrum():
    correction = ScatterCorrection("msc").fit(SPECTRA)
    found = correction.transform(SCATTERED)
    for row, corrected in zip(SCATTERED, found, strict=True):
        slope, offset = np.polyfit(SPECTRA.mean(axis=0), row, 1)
        np.testing.assert_allclose(corrected, (row - offset) / slope)


@pytest.mark.parametrize("method", ["snv", "msc"])
def test_offset_and_scale_make_no_difference(method):
    correction = ScatterCorrection(method).fit(SPECTRA)
    np.testing.assert_allclose(correction.transform(SCATTERED), correction.transform(SPECTRA), atol=1e-10)


def test_none_changes_nothing_and_copies():
    found = ScatterCorrection("none").fit_transform(SPECTRA)
    np.testing.assert_array_equal(found, SPECTRA)
    assert not np.shares_memory(found, SPECTRA)


@pytest.mark.parametrize("method", ["snv", "msc"])
@pytest.mark.parametrize("level", [0.0, 0.1, 1e9])
def test_a_constant_spectrum_is_centred_only(method, level):
    correction = ScatterCorrection(method).fit(SPECTRA)
    found = correction.transform(np.full((1, 30), level))
    np.testing.assert_allclose(found, 0.0 if method == "snv" else SPECTRA.mean(), atol=1e-6)
    assert np.isfinite(ScatterCorrection(method).fit_transform(np.full((3, 30), level))).all()


def test_an_unknown_method():
    with pytest.raises(ArgumentError, match="method='emsc'; use 'snv', 'msc' or 'none'"):
        ScatterCorrection("emsc").fit(SPECTRA)
