"""Ask, evaluate, tell, until a budget is spent: a trial for each worker that is free, or batch after batch."""

from __future__ import annotations

from collections import deque

from spotsvm.ask_tell_study import AskTellStudy
from spotsvm.callbacks import Followers
from spotsvm.interrupts import Interrupts
from spotsvm.run_settings import RunSettings
from spotsvm.stopper import Stopper
from spotsvm.trial_run import TrialRun
from spotsvm.workers.protocol import Workers


def run_trials(study: AskTellStudy, workers: Workers, settings: RunSettings, followers: Followers, stopper: Stopper) -> bool:
    """Evaluate until the study has `settings.n_trials` finished trials, or the stop rule or the search ends it.

    Parameters
    ----------
    study : AskTellStudy
        What is run; nobody else may ask or tell it meanwhile.
    workers : Workers
        What evaluates; closed in the end.
    settings : RunSettings
        How long, and whether in batches.
    followers : Followers
        Who hears of it.
    stopper : Stopper
        The stop rule at work.

    Returns
    -------
    bool
        Whether the search had no more to suggest.
    """
    study.plan(settings.n_trials, settings.batch_size or 1)
    with followers.during(study), workers, Interrupts() as interrupts:
        run = TrialRun(study, workers, settings, followers, stopper, interrupts)
        with run.nothing_lost():
            if settings.batch_size is None:
                as_workers_are_free(run)
            else:
                in_batches(run, settings.batch_size)
    stopper.report()
    return run.exhausted


def as_workers_are_free(run: TrialRun) -> None:
    """Give each worker that is free the next trial at once, and tell what ends when it ends: the slowest keeps nobody waiting.

    But a search that goes on from the best start waits for the last of them.

    What is suggested depends on which trials have ended by then. So the record's order of asking and telling, and not the seed
    alone, makes the same run again; with one worker there is but one order.
    """
    while run.may_ask or run.running:
        if run.may_start:
            run.start_next()
        if len(run.running) > 1:
            run.study.plan(run.settings.n_trials, None)
        run.collect(wait=not run.may_start)
        for trial, outcome in run.ended:
            run.tell(trial, outcome)


def in_batches(run: TrialRun, size: int) -> None:
    """Evaluate `size` trials together, and tell them in the order asked: the same wherever they are evaluated.

    What ends before its turn is recorded at once, and told in its turn.
    """
    while run.may_ask:
        batch = run.ask(min(size, run.left))
        for trial in batch:
            run.start(trial)
        turns = deque(batch)
        while turns:
            if (outcome := run.came(turns[0])) is not None:
                run.tell(turns.popleft(), outcome)
            else:
                run.hold_ended()
                run.collect(wait=True)
