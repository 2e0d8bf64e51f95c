"""ScatterCorrection: spectra without the offset and the scale that stray light and path length give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice


@dataclass(eq=False, repr=False)
class ScatterCorrection(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Remove the offset and the scale of each spectrum.

    Parameters
    ----------
    method : {"snv", "msc", "none"}, default="snv"
        "snv" is the standard normal variate: each spectrum less its mean, divided by its standard deviation. "msc" is
        multiplicative scatter correction: offset and scale are those of a straight line fitted to the spectrum as a function of
        the mean training spectrum. "none" returns the spectra as they are, so that a search can compare.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        The mean training spectrum.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ArgumentError
        In `fit`, if the method is unknown; a ValueError.

    See Also
    --------
    SavitzkyGolay : Smooths spectra, or takes derivatives.
    PLSScores : Few features from many wavelengths.
    spectra_pipeline : Tunes all of them together.

    Notes
    -----
    A spectrum without a slope, such as a constant one, is only centred. Do not use it where the level of the whole spectrum is
    what the target depends on.

    References
    ----------
    Barnes, Dhanoa, Lister 1989, "Standard Normal Variate Transformation and De-trending of Near-Infrared Diffuse Reflectance
    Spectra". Geladi, MacDougall, Martens 1985, "Linearization and Scatter-Correction for Near-Infrared Reflectance Spectra of
    Meat".

    Examples
    --------
    >>> X = np.array([[1.0, 2.0, 3.0], [20.0, 40.0, 60.0]])
    >>> ScatterCorrection().fit_transform(X).round(2).tolist()
    [[-1.22, 0.0, 1.22], [-1.22, 0.0, 1.22]]
    """

    method: Literal["snv", "msc", "none"] = "snv"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the mean spectrum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training spectra, a row each.
        y : None
            Not used.

        Returns
        -------
        ScatterCorrection
            Itself.

        Raises
        ------
        ArgumentError
            If the method is unknown; a ValueError.

        See Also
        --------
        transform : Corrects spectra.
        """
        X = validate_data(self, X, dtype=np.float64)
        check_choice("method", self.method, ("snv", "msc", "none"))
        self.mean_: NDArray[np.float64] = X.mean(axis=0)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the corrected spectra.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The spectra, each without its offset and scale; with "msc" in the units of the mean spectrum.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.method == "none":
            return np.array(X)
        level, centred, largest = 0.0, X - X.mean(axis=1, keepdims=True), np.abs(X).max(axis=1)
        scales = centred.std(axis=1)
        if self.method == "msc":
            level, reference = float(self.mean_.mean()), self.mean_ - self.mean_.mean()
            size = float(reference @ reference)
            scales = centred @ reference / size if size > 0 else np.ones(len(X))
            largest = largest / np.sqrt(size) if size > 0 else largest
        # a scale that is rounding error of the largest value is none
        nothing = np.abs(scales) <= 100 * np.finfo(float).eps * largest
        corrected: NDArray[np.float64] = level + centred / np.where(nothing, 1.0, scales)[:, None]
        return corrected
