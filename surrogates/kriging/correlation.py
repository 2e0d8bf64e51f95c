"""Correlation functions of the scaled squared distance r2 = sum_j theta_j d_j^2, and the embedding in which it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from spotsvm.errors import SurrogateError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gaussian:
    """exp(-r2) (:eq:`gaussian-correlation`; Koch et al. 2011, eq. 4): very smooth responses."""

    name: str = "gaussian"

    def value(self, r2: Floats) -> Floats:
        """Return the correlation at squared distances r2 >= 0."""
        return np.exp(-r2)

    def slope(self, r2: Floats) -> Floats:
        """Return its derivative by r2."""
        return -np.exp(-r2)


@dataclass(frozen=True)
class Matern52:
    """(1 + s + s^2 / 3) exp(-s), s = sqrt(5 r2): responses that are twice differentiable (Rasmussen, Williams 2006, 4.17).

    Equation :eq:`matern-correlation`.
    """

    name: str = "matern52"

    def value(self, r2: Floats) -> Floats:
        """Return the correlation at squared distances r2 >= 0."""
        s = np.sqrt(5.0 * r2)
        return (1.0 + s + s * s / 3.0) * np.exp(-s)

    def slope(self, r2: Floats) -> Floats:
        """Return its derivative by r2."""
        s = np.sqrt(5.0 * r2)
        return -(5.0 / 6.0) * (1.0 + s) * np.exp(-s)


Correlation = Gaussian | Matern52
CORRELATIONS: dict[str, Correlation] = {"gaussian": Gaussian(), "matern52": Matern52()}


def get_correlation(name: str) -> Correlation:
    """Return the correlation function of a name; SurrogateError if the name is unknown."""
    if name not in CORRELATIONS:
        raise SurrogateError(f"correlation={name!r} is unknown; use one of {', '.join(sorted(CORRELATIONS))}")
    return CORRELATIONS[name]


def is_matern(correlation: Correlation) -> bool:
    """Return True for Matern 5/2 and False for Gaussian, as the compiled functions expect."""
    return isinstance(correlation, Matern52)


@dataclass(frozen=True)
class Embedding:
    """Rounds integer columns, and replaces a categorical column by columns in which any two values have distance 1.

    Numeric columns are divided by `scale`; an unknown category has distance 1 from all. `owner`: the original of each embedded
    column.
    """

    n_features: int
    integer: tuple[int, ...]
    categorical: tuple[int, ...]
    scale: Floats
    categories: tuple[Floats, ...]

    @classmethod
    def of(cls, X: Floats, integer: Sequence[int] = (), categorical: Sequence[int] = (), scale: ArrayLike = 1.0) -> Embedding:
        """Make the embedding with the categories in X."""
        d = X.shape[1]
        categories = tuple(np.unique(X[:, j]) for j in categorical)
        return cls(d, tuple(integer), tuple(categorical), np.broadcast_to(np.asarray(scale, dtype=float), (d,)), categories)

    @classmethod
    def of_points(cls, domain: Domain, points: Floats) -> tuple[Embedding, Floats]:
        """Make the embedding with the categories of a domain's points, and embed these points."""
        inputs = domain.model_inputs(points)
        embedding = cls.of(inputs, categorical=np.flatnonzero(domain.categorical).tolist())
        return embedding, embedding.transform(inputs)

    @property
    def numeric(self) -> list[int]:
        """The columns that have an order."""
        return [j for j in range(self.n_features) if j not in self.categorical]

    @property
    def owner(self) -> NDArray[np.intp]:
        """Index of the original column of each embedded column."""
        own = list(self.numeric)
        for j, codes in zip(self.categorical, self.categories, strict=True):
            own += [j] * (len(codes) + 1)
        return np.array(own, dtype=np.intp)

    def round(self, X: Floats) -> Floats:
        """Return X with its integer columns rounded."""
        if not self.integer:
            return X
        X = X.copy()
        X[:, list(self.integer)] = np.rint(X[:, list(self.integer)])
        return X

    def transform(self, X: Floats) -> Floats:
        """Embed points; shape (n, n_features) to (n, p)."""
        X = self.round(X)
        parts = [X[:, self.numeric] / self.scale[self.numeric]]
        for j, codes in zip(self.categorical, self.categories, strict=True):
            hit = X[:, [j]] == codes
            other = ~hit.any(axis=1, keepdims=True)
            parts.append(np.hstack([hit, other]) * np.sqrt(0.5))
        return np.hstack(parts)

    def pair_distances(self, E: Floats) -> Floats:
        """Return the pairs' squared distances in each original column, (n_features, n (n - 1) / 2); :eq:`coordinate-distance`.

        The pairs have the order of scipy's pdist. Differences are taken before they are squared, so that points 1e-12 apart
        remain different.
        """
        out = np.zeros((self.n_features, len(E) * (len(E) - 1) // 2))
        if out.shape[1]:
            for column, own in enumerate(self.owner):
                out[own] += pdist(E[:, [column]], "sqeuclidean")
        return out
