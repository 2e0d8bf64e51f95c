"""Scalars and vectors as functions of a pair of rows, on all pairs at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# a number, or an array that broadcasts to the pairs: (n, 1) where it depends on x_i alone, (1, m) on x_j alone, (n, m) on both
ScalarField = Any


class PairFields(NamedTuple):
    """<x_i, x_j>, |x_i|^2, |x_j|^2 and ||x_i - x_j||^2 on the pairs."""

    inner: ScalarField
    left: ScalarField
    right: ScalarField
    distance: ScalarField


class VectorField(NamedTuple):
    """The vectors a x_i + b x_j, with scalar fields a and b; None where there is no such term."""

    a: ScalarField | None
    b: ScalarField | None

    def plus(self, other: VectorField) -> VectorField:
        """Add two vectors."""
        return VectorField(_sum(self.a, other.a), _sum(self.b, other.b))

    def minus(self, other: VectorField) -> VectorField:
        """Subtract a vector."""
        return VectorField(_difference(self.a, other.a), _difference(self.b, other.b))

    def times(self, scalar: ScalarField) -> VectorField:
        """Multiply by a scalar."""
        return VectorField(_product(scalar, self.a), _product(scalar, self.b))

    def dot(self, other: VectorField, pairs: PairFields) -> ScalarField:
        """Return the inner product of two vectors."""
        cross = _sum(_product(self.a, other.b), _product(self.b, other.a))
        own = _product(_product(self.a, other.a), pairs.left)
        others = _product(_product(self.b, other.b), pairs.right)
        return _sum(_sum(own, _product(cross, pairs.inner)), others)

    def squared_norm(self, pairs: PairFields) -> ScalarField:
        """Return the squared norm; exactly where the vector is a multiple of x_i - x_j by a number."""
        a, b = self.a, self.b
        if a is None or b is None:
            return self.dot(self, pairs)
        if np.ndim(a) == 0 and np.ndim(b) == 0 and a == -b:
            return a * a * pairs.distance
        # a square: what is below 0 is rounding
        return np.maximum(self.dot(self, pairs), 0)


def _sum(first: ScalarField | None, second: ScalarField | None) -> ScalarField | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _difference(first: ScalarField | None, second: ScalarField | None) -> ScalarField | None:
    if second is None:
        return first
    return -second if first is None else first - second


def _product(first: ScalarField | None, second: ScalarField | None) -> ScalarField | None:
    return None if first is None or second is None else first * second
