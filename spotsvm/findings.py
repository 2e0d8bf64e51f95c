"""What was found out about a study: named JSON objects that are kept with it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.plain_json import plain_json
from spotsvm.record import Record
from spotsvm.run_guard import RunGuard, in_turn


def checked_finding(name: str, finding: Mapping[str, Any]) -> dict[str, Any]:
    """Give a finding as it is read back from a record: tuples as lists, all else as it is.

    Parameters
    ----------
    name : str
        Its name, one line of text.
    finding : mapping of str to object
        What JSON can hold: text, truth values, None, Python's own numbers (nan and infinite ones too), lists and mappings.

    Raises
    ------
    ArgumentError
        If the name is no line of text, or a part of the finding is not JSON; it says which.

    Examples
    --------
    >>> checked_finding("judgement", {"difference": 0.5, "interval": (0.1, 0.9)})
    {'difference': 0.5, 'interval': [0.1, 0.9]}
    """
    if not isinstance(name, str) or not name or name != " ".join(name.split()):
        raise ArgumentError(f"name={name!r} does not name a finding; use a line of text")
    return plain_json(finding, f"finding {name}")


class StudyFindings:
    """Findings of a study, for a class with a guard, and a record or None."""

    _record: Record | None
    _findings: dict[str, dict[str, Any]]
    guard: RunGuard

    @property
    def findings(self) -> dict[str, dict[str, Any]]:
        """What was found out about the study, by name: a copy of what `add_finding` was given."""
        return {name: copy.deepcopy(self._findings[name]) for name in sorted(self._findings)}

    @in_turn
    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Keep what was found out about the study, in its record too; in place of an earlier finding of that name.

        Findings are no part of what must be the same for a record to be resumed.

        Parameters
        ----------
        name : str
            Its name, one line of text.
        finding : mapping of str to object
            What JSON can hold; nan and infinite numbers too.

        Raises
        ------
        ArgumentError
            If it is not JSON; the message says which part.
        StorageError
            If the record cannot be written; the finding is then not kept.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2]}, "random", 0)
        >>> study.add_finding("weather", {"sun": True})
        >>> study.findings
        {'weather': {'sun': True}}
        """
        plain = checked_finding(name, finding)
        if self._record is not None:
            self._record.write_finding(name, plain)
        self._findings[name] = plain
