"""A progress bar with the incumbent, silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm


@contextmanager
def progress_bar(name: str, budget: int) -> Iterator[Callable[[Any, Any], None]]:
    """Show a bar on standard error while a search runs, if that is a terminal; give the callback that moves it.

    Parameters
    ----------
    name : str
        What is shown before the bar.
    budget : int
        Trials in all.
    """
    with tqdm(total=budget, desc=f"{name:>8}", unit="trial", disable=None) as bar:

        def told(study: Any, trial: Any) -> None:
            if bar.disable:
                return
            bar.update(study.n_finished - bar.n)
            if trial.value is not None:
                bar.set_postfix_str(f"incumbent {study.best_trial.value:.5g}")

        yield told


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
