"""SavitzkyGolay: smoothed spectra, and their derivatives."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_count
from spotsvm.errors import ArgumentError


@dataclass(eq=False, repr=False)
class SavitzkyGolay(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Smooth each spectrum by polynomials in a moving window, or return a derivative.

    The first derivative removes an offset that a spectrum has at all wavelengths, the second one also a slope. The columns must
    be in order of the wavelength, at equal distances.

    Parameters
    ----------
    window_length : int, default=15
        Number of neighbouring columns to which a polynomial is fitted, 1 or more. With fewer columns it is fitted to all.
    polyorder : int, default=2
        Degree of the polynomial, 0 or more and below `window_length`.
    deriv : int, default=0
        Order of the derivative, from 0, which smooths, to `polyorder`.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above; a ValueError.

    See Also
    --------
    ScatterCorrection : Removes offset and scale of each spectrum.
    PLSScores : Few features from many wavelengths.
    spectra_pipeline : Tunes all of them together.

    Notes
    -----
    At the ends of a spectrum the polynomial of the first or last window is used, as by `scipy.signal.savgol_filter`. With fewer
    columns than `polyorder` + 1 the degree is lower, and derivatives of a higher order are 0.

    References
    ----------
    Savitzky, Golay 1964, "Smoothing and Differentiation of Data by Simplified Least Squares Procedures".

    Examples
    --------
    >>> X = np.array([[0.0, 1.0, 4.0, 9.0, 16.0]])
    >>> SavitzkyGolay(3, deriv=1).fit_transform(X).round(6).tolist()
    [[0.0, 2.0, 4.0, 6.0, 8.0]]
    """

    window_length: int = 15
    _: KW_ONLY
    polyorder: int = 2
    deriv: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra, a row each.
        y : None
            Not used.

        Returns
        -------
        SavitzkyGolay
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid; a ValueError.

        See Also
        --------
        transform : Filters spectra.
        """
        X = validate_data(self, X, dtype=np.float64)
        window, degree = check_count("window_length", self.window_length), check_count("polyorder", self.polyorder, 0)
        deriv = check_count("deriv", self.deriv, 0)
        if degree >= window:
            raise ArgumentError(f"polyorder={degree} is not below window_length={window}; use a wider window, or a lower degree")
        if deriv > degree:
            raise ArgumentError(f"deriv={deriv} is above polyorder={degree}, so that it is 0; use a higher degree")
        self._window = min(window, X.shape[1])
        self._degree = min(degree, self._window - 1)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the filtered spectra.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Spectra with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Smoothed spectra, or their derivatives by the number of the column.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        filtered: NDArray[np.float64] = savgol_filter(X, self._window, self._degree, deriv=self.deriv)
        return filtered

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_window")
