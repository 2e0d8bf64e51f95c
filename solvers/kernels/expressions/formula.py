"""Kernel expressions as formulae, in plain text and in LaTeX, with only the necessary parentheses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

# binding strength of a formula; a formula that binds less tightly than its context needs gets parentheses
_NEGATIVE, _SUM, _OPEN_PRODUCT, _PRODUCT, _POWER, _ATOM = range(6)


class _Node(Protocol):
    """The part of `Expression` that a formula needs."""

    @property
    def block(self) -> str: ...

    @property
    def arguments(self) -> Sequence[_Node]: ...

    @property
    def value(self) -> float | None: ...


class _Formula(NamedTuple):
    string: str
    holds: int

    def within(self, needed: int) -> str:
        return self.string if self.holds >= needed else f"({self.string})"


def text_formula(expression: _Node) -> str:
    """Return the formula in plain text; see `Expression.text`."""
    return _text(expression).string


def latex_formula(expression: _Node) -> str:
    """Return the formula in LaTeX; see `Expression.latex`."""
    return _latex(expression).string


def _number(value: float | None) -> str:
    return f"{value:.4g}"


def _text(node: _Node) -> _Formula:
    if not node.arguments:
        return _text_leaf(node)
    parts = [_text(child) for child in node.arguments]
    first, last, v = parts[0], parts[-1], _number(node.value) if node.value is not None else ""
    makers: dict[str, Callable[[], _Formula]] = {
        "exp": lambda: _Formula(f"exp({first.string})", _ATOM),
        "square": lambda: _Formula(f"{first.within(_ATOM)}^2", _POWER),
        "cube": lambda: _Formula(f"{first.within(_ATOM)}^3", _POWER),
        "divide": lambda: _Formula(f"{first.within(_PRODUCT)} / {last.within(_POWER)}", _PRODUCT),
        "inner_product": lambda: _Formula(f"<{first.string}, {last.string}>", _ATOM),
        "squared_distance": lambda: _Formula(f"|{first.within(_SUM)} - {last.within(_PRODUCT)}|^2", _POWER),
        "scale": lambda: _Formula(f"{v} * {first.within(_PRODUCT)}", _PRODUCT),
        "normalise": lambda: _Formula(f"normalised({first.string})", _ATOM),
        "exponential": lambda: _Formula(f"exp({v} * (normalised({first.string}) - 1))", _ATOM),
    }
    return makers[node.block]() if node.block in makers else _sum_or_product(node.block, first, last, " * ")


def _sum_or_product(block: str, first: _Formula, last: _Formula, times: str) -> _Formula:
    if block in ("add", "add_vectors"):
        return _Formula(f"{first.within(_SUM)} + {last.within(_SUM)}", _SUM)
    if block in ("subtract", "subtract_vectors"):
        return _Formula(f"{first.within(_SUM)} - {last.within(_OPEN_PRODUCT)}", _SUM)
    # "a <x, z>" may end a product, but a factor after it would read as another vector
    holds = _OPEN_PRODUCT if last.holds == _OPEN_PRODUCT else _PRODUCT
    return _Formula(f"{first.within(_PRODUCT)}{times}{last.within(_OPEN_PRODUCT)}", holds)


def _text_leaf(node: _Node) -> _Formula:
    if node.value is None:
        return _Formula(node.block, _ATOM)
    v = _number(node.value)
    return {
        "number": _Formula(v, _ATOM if node.value >= 0 else _NEGATIVE),
        "linear": _Formula(f"{v} * <x_i, x_j>", _PRODUCT),
        "gaussian": _Formula(f"exp(-{v} * |x_i - x_j|^2)", _ATOM),
        "rational": _Formula(f"1 / (1 + {v} * |x_i - x_j|^2)", _PRODUCT),
        "norms": _Formula(f"({v} * |x_i|^2) * ({v} * |x_j|^2)", _PRODUCT),
        "damping": _Formula(f"exp(-{v} * (|x_i|^2 + |x_j|^2))", _ATOM),
    }[node.block]


_X, _Z = r"\vec{X}_i", r"\vec{X}_j"
_DISTANCE, _NORMS = rf"\|{_X} - {_Z}\|^2", (rf"\|{_X}\|^2", rf"\|{_Z}\|^2")


def _latex(node: _Node) -> _Formula:
    if not node.arguments:
        return _latex_leaf(node)
    parts = [_latex(child) for child in node.arguments]
    first, last, v = parts[0], parts[-1], _latex_number(node.value) if node.value is not None else ""
    makers: dict[str, Callable[[], _Formula]] = {
        "exp": lambda: _Formula(rf"\exp({first.string})", _ATOM),
        "square": lambda: _Formula(f"{_base(first)}^2", _POWER),
        "cube": lambda: _Formula(f"{_base(first)}^3", _POWER),
        "divide": lambda: _Formula(rf"\frac{{{first.string}}}{{{last.string}}}", _ATOM),
        "inner_product": lambda: _Formula(f"{first.within(_ATOM)}^T {last.within(_ATOM)}", _OPEN_PRODUCT),
        "squared_distance": lambda: _Formula(rf"\|{first.within(_SUM)} - {last.within(_PRODUCT)}\|^2", _POWER),
        "scale": lambda: _Formula(
            f"{v}{_times(first)}{first.within(_OPEN_PRODUCT)}", min(_PRODUCT, max(first.holds, _OPEN_PRODUCT))
        ),
        "normalise": lambda: _Formula(rf"\operatorname{{normalised}}({first.string})", _ATOM),
        "exponential": lambda: _Formula(rf"\exp({v} (\operatorname{{normalised}}({first.string}) - 1))", _ATOM),
    }
    if node.block in makers:
        return makers[node.block]()
    return _sum_or_product(node.block, first, last, _times(last))


def _times(following: _Formula) -> str:
    """Return a dot before a digit: two adjacent numbers would read as a single number."""
    return r" \cdot " if following.string[:1].isdigit() else " "


def _base(formula: _Formula) -> str:
    if formula.holds >= _ATOM and not formula.string.startswith(r"\frac"):
        return formula.string
    return f"[{formula.string}]" if "(" in formula.string else f"({formula.string})"


def _latex_number(value: float | None) -> str:
    mantissa, _, exponent = _number(value).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _latex_leaf(node: _Node) -> _Formula:
    names = {"x_i": _X, "x_j": _Z}
    if node.value is None:
        return _Formula(names.get(node.block, f"c_{node.block[1:]}"), _ATOM)
    v = _latex_number(node.value)
    return {
        "number": _Formula(v, _NEGATIVE if node.value < 0 else _PRODUCT if "cdot" in v else _ATOM),
        "linear": _Formula(f"{v} {_X}^T {_Z}", _OPEN_PRODUCT),
        "gaussian": _Formula(rf"\exp(-{v} {_DISTANCE})", _ATOM),
        "rational": _Formula(rf"\frac{{1}}{{1 + {v} {_DISTANCE}}}", _ATOM),
        "norms": _Formula(f"({v} {_NORMS[0]}) ({v} {_NORMS[1]})", _PRODUCT),
        "damping": _Formula(rf"\exp(-{v} ({_NORMS[0]} + {_NORMS[1]}))", _ATOM),
    }[node.block]
