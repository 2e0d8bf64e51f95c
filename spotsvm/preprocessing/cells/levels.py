"""Levels of the training rows, and which of them a text of later rows stands for."""

from __future__ import annotations

from collections.abc import Sequence

from spotsvm.preprocessing.cells.words import TRUTH, form, is_missing

#: a text is a category if it has at most this number of levels, or at least this number of rows per level on average
_FEW, _ROWS = 40, 4


def is_repeated(n_levels: int, n_rows: int) -> bool:
    """Return whether levels are few, or occur several times on average."""
    return n_levels <= _FEW or n_levels * _ROWS <= n_rows


class Levels:
    """Levels, found by the form of equal values; levels of the same form are matched by equal texts alone."""

    def __init__(self, levels: Sequence[str], has_gaps: bool):
        self._levels = set(levels)
        self._by_form: dict[str, str | None] = {}
        for level in levels:
            key = form(level)
            self._by_form[key] = None if key in self._by_form else level
        truths = {TRUTH.get(form(level)): level for level in levels}
        self._truths = truths if len(levels) == 2 and set(truths) == {True, False} else {}
        words = [level for level in levels if is_missing(level)]
        #: the level of a gap, as pandas reads a word as a gap in one file that is a level elsewhere
        self.gap = words[0] if len(words) == 1 and not has_gaps else None

    def match(self, text: str) -> str | None:
        """Return the level that a text stands for; None if it is none, or may be several."""
        if text in self._levels:
            return text
        key = form(text)
        return self._by_form.get(key) or self._truths.get(TRUTH.get(key))
