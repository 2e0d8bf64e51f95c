"""What a user has to know about a table, or about a tuning of it, before trusting a score."""

from __future__ import annotations

from typing import NamedTuple


class Notice(NamedTuple):
    """A code for programs, and the sentence for the user; the terminal, the page and comparison.csv show the sentence."""

    code: str
    sentence: str
