"""Callbacks of a run: called at its start, for each trial asked and told, and at its end; progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from typing import Any, TypeAlias

from tqdm import tqdm

from spotsvm.common.progress import ProgressDisplay
from spotsvm.trials.own_unit import OwnUnits
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial


class StopRun(Exception):
    """Raised by a callback to end the run at once, without an error; `findings["stop"]` keeps its text as the reason.

    The study keeps its results and can be continued. Trials still under way are cancelled; the next run evaluates them first.

    See Also
    --------
    Callback : Where it is raised.
    StopRule : Ends a run by its trials, and lets those under way finish.

    Examples
    --------
    >>> from spotsvm import Study
    >>> def good_enough(study, trial):
    ...     if trial.value is not None and trial.value <= 3:
    ...         raise StopRun(f"trial {trial.number} is good enough")
    >>> study = Study({"x": list(range(100))}, seed=0).run(
    ...     lambda p: abs(p["x"] - 30), n_trials=100, callback=good_enough
    ... )
    >>> study.best_trial.value <= 3, study.n_finished < 100
    (True, True)
    """


class Callback:
    """Base class of callbacks; override the methods that are needed. Any object with some of these methods is accepted.

    The methods are called one at a time, in the process and the thread that run the study. An exception in one ends the run, as
    an interrupt does; `StopRun` ends it without an error.

    See Also
    --------
    StopRun : What a callback raises to end a run.
    Study.run : The run that calls it.

    Examples
    --------
    >>> from spotsvm import Study
    >>> class Count(Callback):
    ...     asked = told = 0
    ...
    ...     def on_ask(self, study, trial):
    ...         self.asked += 1
    ...
    ...     def on_tell(self, study, trial):
    ...         self.told += 1
    ...
    ...     def on_end(self, study):
    ...         print(
    ...             f"{self.asked} asked, {self.told} told, best {study.best_trial.value}"
    ...         )
    >>> _ = Study({"x": [1, 2, 3]}, seed=0).run(
    ...     lambda p: p["x"], n_trials=3, callback=Count()
    ... )
    3 asked, 3 told, best 1.0
    """

    def on_start(self, study: Any) -> None:
        """Handle the start of a run; `study.trials` contains those of earlier runs.

        Parameters
        ----------
        study : Study
            The study, which must not be changed.

        See Also
        --------
        on_end : Called when the run is over.
        """

    def on_ask(self, study: Any, trial: Trial) -> None:
        """Handle a trial that is about to be evaluated.

        Parameters
        ----------
        study : Study
            The study, which must not be changed.
        trial : Trial
            The trial.

        See Also
        --------
        on_tell : Called when the trial has a result.
        """

    def on_tell(self, study: Any, trial: Trial) -> None:
        """Handle a finished trial, as it is recorded.

        Parameters
        ----------
        study : Study
            The study, which must not be changed.
        trial : Trial
            The trial.

        See Also
        --------
        on_ask : Called before the trial is evaluated.
        StopRun : Raised here, it ends the run.
        """

    def on_end(self, study: Any) -> None:
        """Handle the end of a run, also by an error or an interrupt.

        Parameters
        ----------
        study : Study
            The study, which must not be changed.

        See Also
        --------
        on_start : Called before the first trial.
        """


#: type of `callback` arguments: a callable that takes the study and each trial told, a Callback, or several of both
Callbacks: TypeAlias = Callable[[Any, Trial], object] | Callback | Sequence[Callable[[Any, Trial], object] | Callback]


class Progress(Callback):
    """Show the progress of a run on standard error: a bar on a terminal, else a line after each tenth of `budget` trials.

    Both show the best value so far and the remaining time, estimated from the mean time of a trial and limited by the run's
    `timeout`.
    """

    def __init__(self, budget: int, name: str = ""):
        self._display = ProgressDisplay(budget, name)

    def on_start(self, study: Any) -> None:
        """Begin where an earlier run has ended."""
        self._display.begin(study.n_finished, self._words(study)[1])

    def on_tell(self, study: Any, trial: Trial) -> None:
        """Show a finished trial."""
        self._display.show(study.n_finished, *self._words(study), study.seconds_left)

    def _words(self, study: Any) -> tuple[str, str]:
        """Return the best value so far for a line, and for a bar."""
        name, value = _best(study)
        return (f", best {name} {value:.6g}", f"incumbent {value:.5g}") if name else ("", "")

    def on_end(self, study: Any) -> None:
        """Close the bar."""
        self._display.end()

    def __deepcopy__(self, memo: Any) -> Progress:
        """Return the same object: cloning a search copies its callback, and a terminal has one bar."""
        return self


def _best(study: StudyResults) -> tuple[str, float]:
    """Return the name of the best value so far, and the value, an error in its own unit; an empty name if there is none."""
    if study.objectives.several or not any(map(may_be_best, study.trials)):
        return "", nan
    error = OwnUnits.of(study.about, study.objectives).error
    return ("value", study.best_value) if error is None else (error.title, error.value(study.best_value))


@contextmanager
def progress_bar(name: str, budget: int) -> Iterator[Callback]:
    """Show the progress of a search on standard error; yield the callback that does so."""
    yield Progress(budget, name)


@contextmanager
def runs_bar(name: str, runs: int) -> Iterator[Callable[[Any], None]]:
    """Show a bar on standard error while `compare` runs, if that is a terminal; yield the callback that advances it."""
    with tqdm(total=runs, desc=name, unit="run", disable=None) as bar:

        def ended(run: Any) -> None:
            bar.update(1)
            bar.set_postfix_str(f"{run.search}, seed {run.seed}")

        yield ended
