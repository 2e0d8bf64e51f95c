"""A parameter as Python code: the call of scipy.stats, or the list, that makes it."""

from __future__ import annotations

import ast
import numbers
from typing import Any

from spotsvm.described_parameter import scale_of
from spotsvm.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, Parameter

#: of code that is parsed: what is nested deeper than Python's parser can go needs more signs than a list of values
_LONGEST = 100_000


def parameter_code(parameter: Parameter) -> str:
    """Give the code that makes a parameter; empty where there is none, as for a list of estimators.

    Parameters
    ----------
    parameter : Parameter
        Any.

    Examples
    --------
    >>> from scipy.stats import loguniform, randint
    >>> from spotsvm.parameter import make_parameter
    >>> [parameter_code(make_parameter("x", what)) for what in (loguniform(0.1, 10), randint(2, 6), ["a", None])]
    ['loguniform(0.1, 10)', 'randint(2, 6)', "['a', None]"]
    """
    match parameter:
        case IntegerParameter(low=low, high=high):
            return f"randint({low}, {high + 1})"
        case ChoiceParameter(values=values):
            return _literal(list(values))
        case ContinuousParameter(distribution=law, low=low, high=high):
            if code := _call(law):
                return code
            scale = scale_of(parameter)
            if scale == "linear":
                return f"uniform({low!r}, {high - low!r})"
            return f"loguniform({low!r}, {high!r})" if scale == "log" else ""
    return ""


def is_parameter_code(text: Any) -> bool:
    """Tell whether a text, say of a record, is such code and no other: a call of scipy.stats with numbers, or a list of values.

    Examples
    --------
    >>> is_parameter_code("uniform(0, 4)"), is_parameter_code("__import__('os')"), is_parameter_code("print(1)")
    (True, False, False)
    """
    from scipy import stats  # on use: it takes a while

    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    try:
        tree = ast.parse(text, mode="eval").body
        if not isinstance(tree, ast.Call):
            return isinstance(ast.literal_eval(text), list)
        numbers_only = [ast.literal_eval(part) for part in [*tree.args, *(keyword.value for keyword in tree.keywords)]]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    named = isinstance(tree.func, ast.Name) and hasattr(getattr(stats, tree.func.id, None), "ppf")
    return named and all(_is_number(value) for value in numbers_only) and all(keyword.arg for keyword in tree.keywords)


def _call(law: Any) -> str:
    """Give the call of a frozen distribution; empty if it is not one of scipy.stats, or has another argument than numbers."""
    arguments = [*getattr(law, "args", ()), *getattr(law, "kwds", {}).values()]
    name = getattr(getattr(law, "dist", None), "name", "")
    if not name or not all(_is_number(value) for value in arguments):
        return ""
    given = [_number(value) for value in law.args] + [f"{key}={_number(value)}" for key, value in law.kwds.items()]
    code = f"{name}({', '.join(given)})"
    return code if is_parameter_code(code) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _number(value: Any) -> str:
    return repr(int(value) if isinstance(value, numbers.Integral) else float(value))


def _literal(values: list[Any]) -> str:
    code = repr(values)
    try:
        again = ast.literal_eval(code)
        same = again == values and [type(v) for v in again] == [type(v) for v in values]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return ""
    return code if same is True else ""
