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


def run_trials(
    study: AskTellStudy, workers: Workers, settings: RunSettings, followers: Followers, stopper: Stopper | None = None
) -> None:
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
    stopper : Stopper, optional
        The stop rule at work.
    """
    study.plan(settings.n_trials, settings.batch_size or 1)
    with followers.during(study), workers, Interrupts() as interrupts:
        run = TrialRun(study, workers, settings, followers, stopper, interrupts)
        with run.saving_what_is_completed():
            if settings.batch_size is None:
                as_workers_are_free(run)
            else:
                in_batches(run, settings.batch_size)
    if stopper is not None:
        stopper.report()


def as_workers_are_free(run: TrialRun) -> None:
    """Submit a trial to each free worker at once, and tell each outcome when it arrives: no worker waits for the slowest.

    Only a search that goes on from the best start waits for the last of the starts.

    What is suggested depends on which trials are completed by then. So the record's order of asking and telling, and not the seed
    alone, makes the same run again; with one worker there is but one order.
    """
    while run.may_ask or run.pending:
        if run.may_submit:
            run.submit_next()
        if len(run.pending) > 1:
            run.study.plan(run.settings.n_trials, None)
        run.collect(wait=not run.may_submit)
        for trial, outcome in run.completed:
            run.tell(trial, outcome)


def in_batches(run: TrialRun, size: int) -> None:
    """Evaluate `size` trials together, and tell them in the order asked: the same wherever they are evaluated.

    What is completed before its turn is recorded at once, and told in its turn.
    """
    while run.may_ask:
        batch = run.ask(min(size, run.left))
        for trial in batch:
            run.submit(trial)
        turns = deque(batch)
        while turns:
            if (outcome := run.outcome_of(turns[0])) is not None:
                run.tell(turns.popleft(), outcome)
            else:
                run.record_completed()
                run.collect(wait=True)
