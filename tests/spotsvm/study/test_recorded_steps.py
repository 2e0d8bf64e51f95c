"""The steps of trials that ended early, and rules that are none."""

from dataclasses import replace

import pytest
from scipy.stats import uniform

from spotsvm import BelowMedian, Space, Study, Trial, load_study
from spotsvm.errors import ArgumentError
from spotsvm.study.early_stopping import checked_early_stopping
from spotsvm.study.record.salvage import salvage
from spotsvm.study.resume import trial_problem

SPACE = {"x": uniform(0, 1)}
STEPS = 12


def objective(sign=1.0, returns=True):
    """Return an objective that worker processes need no module of the tests for."""

    def learns(params, trial):
        for step in range(1, 13):
            value = sign * ((params["x"] - 0.3) ** 2 + 1 / step)
            trial.report(step, value)
            if trial.should_stop():
                return value if returns else None
        return value

    return learns


def run(n=16, sign=1.0, returns=True, path=None, **options):
    direction = "minimize" if sign > 0 else "maximize"
    study = Study(SPACE, "lhs", 3, direction=direction, path=path)
    study.run(objective(sign, returns), n, **options)
    study.close()
    return study


def third(trial):
    return "now" if trial.number > 3 and len(trial.steps) == 3 else None


@pytest.mark.parametrize("rule", ["improvement", "median", BelowMedian(min_steps=3), third])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_trials_end_early_and_are_recorded(rule, sign, tmp_path):
    study = run(sign=sign, path=tmp_path / "r.db", early_stopping=rule)
    stopped = [t for t in study.trials if t.state == "stopped"]
    assert stopped
    for t in study.trials:
        assert [step for step, _ in t.steps] == list(range(1, len(t.steps) + 1))
        assert (t.value is None) == (t.state == "stopped") == (len(t.steps) < STEPS) == bool(t.reason)
        assert t.value in (None, t.steps[-1][1])
    assert study.status().n_stopped == len(stopped) == 16 - study.status().n_ok
    frame = study.frame()
    assert frame.last_step.tolist() == [t.steps[-1][0] for t in study.trials]
    assert frame.last_value.tolist() == [t.steps[-1][1] for t in study.trials]
    assert load_study(tmp_path / "r.db").trials == study.trials
    assert salvage(tmp_path / "r.db").trials == study.trials
    assert study.trials[study.recommend().number].state == study.best_trial.state == "ok"
    back = Study.from_frame(frame, SPACE, direction=study.direction, seed=0).trials
    assert [(t.state, t.value, t.steps[-1:]) for t in back] == [
        (t.state, t.value, t.steps[-1:] if t.state == "stopped" else ()) for t in study.trials
    ]


@pytest.mark.parametrize("rule", ["soon", 3, BelowMedian])
def test_other_rules_are_refused(rule):
    with pytest.raises(ArgumentError, match="early_stopping="):
        checked_early_stopping(rule)


def test_a_stopped_trial_without_steps_contradicts_itself():
    trial = Trial(0, {"x": 0.5}, (0.5,), "stopped")
    assert "has no step" in trial_problem(trial, Space(SPACE), 1)
    assert not trial_problem(replace(trial, steps=((1.0, 2.0),)), Space(SPACE), 1)
