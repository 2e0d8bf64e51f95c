"""End a run whose first trials all fail for the same reason: the others would as well."""

from __future__ import annotations

from spotsvm.common.errors import FirstTrialsFailedError
from spotsvm.trials.recommendation import kind_of_reason
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial


class FirstFailures:
    """Counts the first trials of a run, while they fail for the same reason, in a study in which none has succeeded.

    Reasons are the same if they differ in numbers alone. A trial past its time is no such failure. `most` is None for any number.
    """

    def __init__(self, study: StudyResults, most: int | None):
        self._left = most if not any(t.state == "ok" for t in study.trials) else None
        self._most, self._kind = most, ""

    def told(self, trial: Trial, error: BaseException | None) -> None:
        """Take note of a finished trial; raise FirstTrialsFailedError, from its error, if it is the last that may fail."""
        if self._left is None:
            return
        kind = kind_of_reason(trial.reason)
        if trial.state != "failed" or (self._kind and kind != self._kind):
            self._left = None
            return
        self._kind = kind
        self._left -= 1
        if self._left > 0:
            return
        several = "The first trial failed" if self._most == 1 else f"The first {self._most} trials failed for the same reason"
        failure = FirstTrialsFailedError(f"{several}: {trial.reason}; with max_failures=None the run goes on all the same")
        if trial.traceback:
            failure.add_note(trial.traceback)
        raise failure from error
