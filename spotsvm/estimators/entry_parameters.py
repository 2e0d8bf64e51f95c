"""Estimator parameters that are dicts, whose entries can be set one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self


class EntryParametersMixin:
    """Mixin that names each entry of a dict-like parameter, `<parameter>__<entry>`, so that a search can tune it.

    It must precede BaseEstimator in the bases. Setting an entry makes a new dict, in which the other entries are unchanged.
    """

    #: the parameters with entries
    _with_entries: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def _replaced(self, parameter: str, entries: Mapping[str, Any]) -> dict[Any, Any]:
        """Return the whole dict of a parameter with some entries replaced, or raise ArgumentError if there is no such entry."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of nested estimators and the entries of dicts as well, as `<parameter>__<entry>`.

        Returns
        -------
        dict of str to object
            The values by name.

        See Also
        --------
        set_params : Sets parameters.
        """
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for outer in self._with_entries:
                if isinstance(params[outer], Mapping):
                    params |= {f"{outer}__{inner}": value for inner, value in params[outer].items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Names and values; `<parameter>__<entry>` sets one entry.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If there is no such entry; a ValueError.

        See Also
        --------
        get_params : Returns the parameters that can be set.
        """
        inside: dict[str, dict[str, Any]] = {}
        plain = {}
        for name, value in params.items():
            outer, found, inner = name.partition("__")
            if found and outer in self._with_entries:
                inside.setdefault(outer, {})[inner] = value
            else:
                plain[name] = value
        super().set_params(**plain)  # type: ignore[misc]
        for outer, values in inside.items():
            setattr(self, outer, self._replaced(outer, values))
        return self
