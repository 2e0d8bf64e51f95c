"""A progress bar with the incumbent, silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from spotsvm.callbacks import Callback
from spotsvm.study_results import StudyResults
from spotsvm.trial import Trial


class _TrialsBar(Callback):
    """Moves a bar by the trials that have ended."""

    def __init__(self, bar: Any):
        self._bar = bar

    def on_start(self, study: StudyResults) -> None:
        self._show(study)

    def on_tell(self, study: StudyResults, trial: Trial) -> None:
        self._show(study)

    def _show(self, study: StudyResults) -> None:
        if self._bar.disable:
            return
        self._bar.update(study.n_finished - self._bar.n)
        if any(t.value is not None for t in study.trials):
            self._bar.set_postfix_str(f"incumbent {study.best_trial.value:.5g}")

    def __deepcopy__(self, memo: Any) -> _TrialsBar:
        """Give the same: a search that is cloned has its callback copied, and a terminal has one bar."""
        return self


@contextmanager
def progress_bar(name: str, budget: int) -> Iterator[Callback]:
    """Show a bar on standard error while a search runs, if that is a terminal; give the callback that moves it.

    Parameters
    ----------
    name : str
        What is shown before the bar.
    budget : int
        Trials in all.
    """
    with tqdm(total=budget, desc=f"{name:>8}", unit="trial", disable=None) as bar:
        yield _TrialsBar(bar)


@contextmanager
def runs_bar(name: str, runs: int) -> Iterator[Callable[[Any], None]]:
    """Show a bar on standard error while runs are compared, if that is a terminal; give the callback of `compare` that moves it.

    Parameters
    ----------
    name : str
        What is shown before the bar.
    runs : int
        Runs in all.
    """
    with tqdm(total=runs, desc=name, unit="run", disable=None) as bar:

        def ended(run: Any) -> None:
            bar.update(1)
            bar.set_postfix_str(f"{run.search}, seed {run.seed}")

        yield ended
