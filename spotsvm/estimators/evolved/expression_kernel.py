"""ExpressionKernel: a kernel expression with numbers for its constants, as a function of two arrays and as a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spotsvm.common.new_files import new_file
from spotsvm.errors import ArgumentError, SolverError, StorageError
from spotsvm.estimators import Floats
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.expressions import CONSTANTS, Expression, InnerProducts, evaluate
from spotsvm.solvers.kernels.expressions.expression import shown

_FORMAT = "spotsvm kernel expression"
_VERSION = 1
#: more than the largest expression takes: 10,000 nodes in 64 levels, whose lines are indented by up to 128 characters
_MAX_BYTES = 2**24
_KEYS = {"format", "version", "expression", "constants"}


@dataclass(frozen=True)
class ExpressionKernel:
    """A kernel by a formula: SVC, SVR, ExactSVC, EvoSVC and other estimators accept `kernel=ExpressionKernel(...)`.

    Parameters
    ----------
    expression : Expression
        The formula: a scalar.
    constants : mapping of str to float, default={}
        A finite number for each of its symbolic constants "c1" to "c4".

    Raises
    ------
    ArgumentError
        If the expression is a vector, or a constant has no finite number or does not occur in the expression; a ValueError.

    See Also
    --------
    EvolvedKernelSVC : Finds such a kernel.
    ExactSVC : Takes it as its kernel.

    Examples
    --------
    >>> product = Expression(
    ...     "inner_product", (Expression("x_i"), Expression("x_j"))
    ... )
    >>> kernel = ExpressionKernel(
    ...     Expression("multiply", (Expression("c1"), product)), {"c1": 2.0}
    ... )
    >>> kernel.formula, kernel([[1.0, 2.0]], [[3.0, 0.0]]).tolist()
    ('2 * <x_i, x_j>', [[6.0]])
    """

    expression: Expression
    constants: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.expression, Expression):
            raise ArgumentError(f"expression={shown(self.expression)}; use an Expression")
        if self.expression.type != "scalar":
            raise ArgumentError(f"expression={self.expression.text()!r} is a vector; a kernel is a scalar")
        if not isinstance(self.constants, Mapping):
            raise ArgumentError(f"constants={shown(self.constants)}; use a dict from names to numbers")
        unknown = [name for name in self.constants if name not in CONSTANTS]
        if unknown:
            raise ArgumentError(f"constants has the entry {shown(unknown[0])}; constants are called {', '.join(CONSTANTS)}")
        unused = [name for name in self.constants if name not in self.expression.constants]
        if unused:
            names = ", ".join(self.expression.constants) or "no constants"
            raise ArgumentError(f"constants has the entry {unused[0]!r}, but the expression uses {names}; leave it out")
        for name in self.expression.constants:
            if not np.isfinite(as_float(self.constants.get(name))):
                raise ArgumentError(f"constants[{name!r}]={shown(self.constants.get(name))}; use a finite number")
        used = {name: float(self.constants[name]) for name in self.expression.constants}
        object.__setattr__(self, "constants", used)

    def __hash__(self) -> int:
        return hash((self.expression, tuple(sorted(self.constants.items()))))

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Compute the kernel values (n, m) of the rows of two arrays; infinite or nan where one overflows.

        Where Z is X itself, the matrix is exactly symmetric if the kernel is.
        """
        rows = np.asarray(X, dtype=np.float64)
        others = rows if Z is X else np.asarray(Z, dtype=np.float64)
        products = InnerProducts.between(rows) if others is rows else InnerProducts.between(rows, others)
        return evaluate(self.expression, products, self.constants)

    @property
    def formula(self) -> str:
        """The formula as text, with the numbers in it.

        See Also
        --------
        latex : The formula for a paper.
        bound : The formula as a tree.
        """
        return self.bound.text()

    @property
    def latex(self) -> str:
        """The formula in LaTeX's mathematics, with the numbers in it.

        See Also
        --------
        formula : The formula as plain text.
        """
        return self.bound.latex()

    @property
    def bound(self) -> Expression:
        """The expression with the numbers in the places of its constants.

        See Also
        --------
        formula : The same as text.
        spotsvm.kernels.Expression : The type of the tree.
        """
        return self.expression.bind(self.constants)

    def to_json(self) -> str:
        """Return the text of a JSON file.

        Returns
        -------
        str
            The kernel as JSON.

        See Also
        --------
        from_json : Reads the text.
        save : Writes the text to a file.

        Examples
        --------
        >>> kernel = ExpressionKernel(Expression("gaussian", value=0.5))
        >>> ExpressionKernel.from_json(kernel.to_json()) == kernel
        True
        """
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "expression": self.expression.to_dict(),
            "constants": dict(self.constants),
        }
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> ExpressionKernel:
        """Read the text of `to_json`, and check all of it; nothing in it is executed.

        Parameters
        ----------
        text : str
            The text of the file.

        Returns
        -------
        ExpressionKernel
            The kernel.

        Raises
        ------
        StorageError
            If the text is damaged, or not a kernel expression; the message says where. A ValueError.

        See Also
        --------
        to_json : Returns the text.
        load : Reads a file.
        """
        try:
            content = json.loads(text)
        except RecursionError:
            raise StorageError("the kernel's JSON text is nested too deep; it is not what to_json() gives") from None
        except (TypeError, ValueError) as error:
            raise StorageError(f"the kernel's text is not valid JSON: {error}") from error
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise StorageError(f"the JSON text is not a kernel expression: its 'format' is not {_FORMAT!r}")
        if content.get("version") != _VERSION:
            raise StorageError(
                f"the kernel expression has version {shown(content.get('version'))}; this library reads version {_VERSION}"
            )
        odd = sorted(_KEYS.symmetric_difference(content))
        if odd:
            verb = "has no" if odd[0] in _KEYS else "has the unknown"
            raise StorageError(f"the kernel expression {verb} entry {shown(odd[0])}; its entries are {', '.join(sorted(_KEYS))}")
        try:
            return cls(Expression.from_dict(content["expression"]), content["constants"])
        except (ArgumentError, SolverError) as error:
            raise StorageError(f"the kernel expression is damaged: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write the kernel to a JSON file.

        Parameters
        ----------
        path : str or Path
            The file; an existing file is replaced.

        See Also
        --------
        load : Reads the file.
        """
        with new_file(Path(path)) as file:
            file.write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> ExpressionKernel:
        """Read a kernel from the file that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        ExpressionKernel
            The kernel.

        Raises
        ------
        StorageError
            If the file is damaged, not a kernel, or larger than 16 MiB; the message names the file. A ValueError.
        OSError
            If there is no such file, or it cannot be read.

        See Also
        --------
        save : Writes the file.
        """
        if Path(path).exists() and not Path(path).is_file():
            raise StorageError(f"{path} is not a regular file; name the JSON file that save() wrote")
        with Path(path).open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise StorageError(f"{path} is larger than {_MAX_BYTES:,} bytes, so save() did not write it")
        try:
            return cls.from_json(content.decode())
        except (StorageError, UnicodeDecodeError) as error:
            raise StorageError(f"{path}: {error}") from error
