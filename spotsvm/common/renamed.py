"""Old names of arguments and attributes, which work for one version with a DeprecationWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def renamed_argument(old: str, new: str) -> Callable[[Class], Class]:
    """Return a decorator of an estimator's class that takes the old name of a parameter as well.

    The constructor and `set_params` take it, and it can be read; `get_params` and the signature have the new name alone.
    """

    def decorate(cls: Class) -> Class:
        for name in ("__init__", "set_params"):
            setattr(cls, name, _taking(getattr(cls, name), cls.__name__, old, new))
        setattr(cls, old, renamed_attribute(f"{cls.__name__}.{old}", new))
        return cls

    return decorate


def renamed_attribute(old: str, new: str) -> Any:
    """Return a property for the old name, `Class.name`, of an attribute."""

    def read(self: Any) -> Any:
        warnings.warn(f"{old} will be gone in the next version; use {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return property(read)


def _taking(method: Callable[..., Any], where: str, old: str, new: str) -> Callable[..., Any]:
    """Return a method that passes the value of the old name on under the new one."""

    @wraps(method)
    def taking(self: Any, *args: Any, **kwargs: Any) -> Any:
        if old in kwargs:
            if new in kwargs:
                raise TypeError(f"{where} got {old} and {new}, which are the same; use {new}")
            message = f"{old} of {where} will be gone in the next version; use {new}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            kwargs[new] = kwargs.pop(old)
        return method(self, *args, **kwargs)

    return taking
