import numpy as np
import pytest

from spotsvm import CurrentTrial, Space
from spotsvm.studies.early_stopping.study import RULES
from spotsvm.studies.early_stopping.tasks import TASKS
from tests.studies.small import ran


@pytest.fixture(scope="module")
def study():
    return ran("early_stopping")


def test_half_of_the_steps_are_spent_with_each_rule(study):
    frame = study.frame()
    assert frame.rule.tolist() == list(RULES)
    assert frame.trials[0] == 4
    assert (frame.trials[1:] >= 4).all()
    assert (frame.missed <= frame.stopped).all()
    assert frame.full.notna().tolist() == [True, False, False]
    assert frame.full[0] <= frame.half[0]


@pytest.mark.parametrize("name", TASKS)
def test_tasks_report_each_step_and_return_the_last_loss(name):
    task, trial = TASKS[name](0), CurrentTrial(0, 1)
    space = Space(task.space)
    value = task(space.decode(np.full(space.domain.dimension, 0.5)), trial)
    assert [step for step, _ in trial.steps] == list(task.steps)
    assert trial.steps[-1][1] == value
    assert value < 0.5 * trial.steps[0][1]
