"""End a run whose first trials all fail for the same reason: the others would as well."""

from __future__ import annotations

from spotsvm.common.errors import FirstTrialsFailedError
from spotsvm.trials.recommendation import commonest_reasons, kind_of_reason
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial


class FirstFailures:
    """Counts the first trials of a run, while they fail for the same reason, in a study in which none has succeeded.

    Reasons are the same if they differ in numbers alone. A trial past its time is no such failure; at the end of a run whose
    trials have all failed reasons and number do not matter. `most` is None for any number.
    """

    def __init__(self, study: StudyResults, most: int | None):
        self._left = most if not any(t.state == "ok" for t in study.trials) else None
        self._most, self._kind = most, ""
        self._watches = self._left is not None
        self._failed: list[Trial] = []

    def told(self, trial: Trial, error: BaseException | None) -> None:
        """Take note of a finished trial; raise FirstTrialsFailedError, from its error, if it is the last that may fail."""
        self._watches &= trial.state != "ok"
        self._failed.append(trial)
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
        raise self._error(f"{several}: {trial.reason}; with max_failures=None the run goes on all the same") from error

    def ended(self) -> None:
        """Raise FirstTrialsFailedError if the run has ended without a trial that has succeeded, unless any number may fail."""
        if self._watches and self._failed:
            count = len(self._failed)
            which = "The only trial of the run" if count == 1 else f"All {count} trials of the run"
            reasons = commonest_reasons([t.reason for t in self._failed])
            raise self._error(f"{which} failed: {reasons}; with max_failures=None this is no error")

    def _error(self, said: str) -> FirstTrialsFailedError:
        failure = FirstTrialsFailedError(said)
        if traceback := self._failed[-1].traceback:
            failure.add_note(traceback)
        return failure
