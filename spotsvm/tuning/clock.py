"""The time limit of a run of `spotsvm tune`."""

from __future__ import annotations

from time import monotonic

#: minimum seconds of a search or a fit: enough for the first candidate of a search
_SHORTEST = 1e-3


class Clock:
    """The time since it was made, of which a run has `timeout` seconds, or no limit if None."""

    def __init__(self, timeout: float | None):
        self._timeout, self._began = timeout, monotonic()

    def left(self, share: float = 1.0) -> float | None:
        """Return how many seconds of a share of the time limit are left; None without a limit."""
        return None if self._timeout is None else max(share * self._timeout - (monotonic() - self._began), _SHORTEST)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._timeout is not None and monotonic() - self._began >= self._timeout
