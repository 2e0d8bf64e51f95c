"""Values of a kernel expression on all pairs of rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.expressions.expression import Expression
from spotsvm.solvers.kernels.expressions.inner_products import InnerProducts

Floats = NDArray[np.float64]

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
        # a square: values below 0 are rounding errors
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


# exp(-80) is 1.8e-35: negligible beside 1, but a normal number; denormals are up to 60 times slower
_LOWEST_EXPONENT = -80
# pairs in a block, 256 kB for each field: a quarter of the time of whole matrices at n = 400
_BLOCK = 2**15


def evaluate(expression: Expression, products: InnerProducts, constants: Mapping[str, float] | None = None) -> Floats:
    """Compute the matrix (n, m) of a scalar kernel expression (Koch et al. 2011, Table 1); inf or nan where it is not defined.

    Each vector is a(i, j) x_i + b(i, j) x_j, so all follows from the rows' inner products: a node costs O(n m) at most, whatever
    the number of features.
    """
    return next(evaluate_settings(expression, products, [constants or {}]))


def evaluate_settings(
    expression: Expression, products: InnerProducts, settings: Iterable[Mapping[str, float]]
) -> Iterator[Floats]:
    """Compute the matrices of one expression under several settings of its constants; nodes without a constant only once."""
    if expression.type != "scalar":
        raise SolverError(f"the expression {expression.text()!r} is a vector; a kernel is a scalar")
    blocks = list(_row_blocks(products))
    for constants in settings:
        values = _checked_constants(expression, constants)
        matrix = np.empty(products.shape)
        for rows, pairs, fields in blocks:
            matrix[rows] = Evaluation(pairs, values, fields).scalar(expression)
        yield matrix


def _row_blocks(products: InnerProducts) -> Iterator[tuple[slice, PairFields, dict[Any, Any]]]:
    """Yield blocks of rows that stay in the cache from one node to the next, each with room for its constant fields."""
    assert products.distances is not None
    n, m = products.shape
    step = max(1, _BLOCK // max(1, m))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        left, right = products.left[rows, None], products.right[None, :]
        yield rows, PairFields(products.G[rows], left, right, products.distances[rows]), {}


def _checked_constants(expression: Expression, constants: Mapping[str, float]) -> dict[str, np.float64]:
    values = {}
    for name in expression.constants:
        if name not in constants:
            raise SolverError(f"the constant {name!r} of {expression.text()!r} has no value; give one in constants")
        if not np.isfinite(as_float(constants[name])):
            raise SolverError(f"constants[{name!r}]={constants[name]!r}; use a finite number")
        values[name] = np.float64(as_float(constants[name]))
    return values


class Evaluation:
    """The fields of an expression's nodes on some pairs of rows.

    New `fields` of nodes without constants are added to it; `number` converts the nodes' numbers to the fields' type.
    """

    def __init__(self, pairs: PairFields, constants: Mapping[str, Any], fields: dict[Any, Any], number: Any = np.float64):
        self.pairs, self.constants, self.fields, self.number = pairs, constants, fields, number

    def scalar(self, node: Expression) -> ScalarField:
        """Return the field of a scalar, without warnings about overflow and 0/0."""
        with np.errstate(all="ignore"):
            return self._of(node)

    def _of(self, node: Expression) -> Any:
        if node.block in self.constants:
            return self.constants[node.block]
        if node.constants or not node.arguments:
            return self._computed(node)
        if node not in self.fields:
            self.fields[node] = self._computed(node)
        return self.fields[node]

    def _computed(self, node: Expression) -> Any:
        if node.block in ("normalise", "exponential"):
            return self._normalised(node)
        if node.value is None:
            return _BLOCKS[node.block](self.pairs, *(self._of(child) for child in node.arguments))
        return _BLOCKS_WITH_NUMBER[node.block](
            self.pairs, self.number(node.value), *(self._of(child) for child in node.arguments)
        )

    def _normalised(self, node: Expression) -> ScalarField:
        (child,) = node.arguments
        normalised = self._of(child) * _inverse_root(self._left._of(child)) * _inverse_root(self._right._of(child))
        if node.block == "normalise":
            return normalised
        return _decaying(self.number(node.value), 1 - normalised)

    @cached_property
    def _left(self) -> Evaluation:
        """The evaluation of each left row with itself: there every inner product is |x_i|^2."""
        return self._with_itself("left")

    @cached_property
    def _right(self) -> Evaluation:
        return self._with_itself("right")

    def _with_itself(self, side: str) -> Evaluation:
        norms = getattr(self.pairs, side)
        fields = self.fields.setdefault(side, {})
        return Evaluation(PairFields(norms, norms, norms, norms * 0), self.constants, fields, self.number)


def _inverse_root(squared: ScalarField) -> ScalarField:
    """Return 1 / sqrt(k(x, x)), 0 where k(x, x) is 0: then the whole row of a positive semidefinite matrix is 0."""
    nothing = squared == 0
    return np.where(nothing, squared, 1 / np.where(nothing, squared + 1, np.sqrt(squared)))


def _decaying(rate: Any, field: ScalarField) -> ScalarField:
    return np.exp(np.maximum(-rate * field, type(rate)(_LOWEST_EXPONENT)))


_BLOCKS: dict[str, Any] = {
    "x_i": lambda pairs: VectorField(1, None),
    "x_j": lambda pairs: VectorField(None, 1),
    "exp": lambda pairs, k: np.exp(k),
    "square": lambda pairs, k: k * k,
    "cube": lambda pairs, k: k * k * k,
    "add": lambda pairs, first, second: first + second,
    "subtract": lambda pairs, first, second: first - second,
    "multiply": lambda pairs, first, second: first * second,
    "divide": lambda pairs, first, second: first / second,
    "add_vectors": lambda pairs, u, v: u.plus(v),
    "subtract_vectors": lambda pairs, u, v: u.minus(v),
    "inner_product": lambda pairs, u, v: u.dot(v, pairs),
    "squared_distance": lambda pairs, u, v: u.minus(v).squared_norm(pairs),
    "scalar_times_vector": lambda pairs, k, v: v.times(k),
    "vector_times_scalar": lambda pairs, v, k: v.times(k),
}
_BLOCKS_WITH_NUMBER: dict[str, Any] = {
    "number": lambda pairs, v: v,
    "linear": lambda pairs, v: v * pairs.inner,
    "gaussian": lambda pairs, v: _decaying(v, pairs.distance),
    "rational": lambda pairs, v: 1 / (1 + v * pairs.distance),
    "norms": lambda pairs, v: (v * pairs.left) * (v * pairs.right),
    "damping": lambda pairs, v: _decaying(v, pairs.left) * _decaying(v, pairs.right),
    "scale": lambda pairs, v, k: v * k,
}
