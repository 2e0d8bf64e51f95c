"""Durations as text."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Return a duration as text.

    Parameters
    ----------
    seconds : float
        The duration.

    Examples
    --------
    >>> duration(0.031), duration(75), duration(7325), duration(200000)
    ('0.031 s', '1 min 15 s', '2 h 2 min', '2 d 7 h')
    """
    if not 0 <= seconds < 1e12:  # what a damaged record may hold
        return "an unknown time"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    for size, unit, small, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // small} {smaller}"
    return f"{whole // 60} min {whole % 60} s"
