import pickle

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import BelowMedian, CurrentTrial, ImprovementUnlikely, Study, Trial, load_study
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.searches import Domain

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


def test_what_a_stopped_objective_returns_does_not_matter():
    with_value, without = ([(t.state, t.steps, t.reason) for t in run(returns=r).trials] for r in (True, False))
    assert with_value == without


OPTIONS = {
    "processes": {"n_jobs": 2}, "threads": {"executor": "threading", "n_jobs": 3},
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_workers_stop_the_same_trials_as_this_process(options):
    seen = [[(t.state, t.point, t.steps, t.reason) for t in run(12, batch_size=3, **o).trials] for o in ({}, options)]
    assert seen[0] == seen[1]
    assert any(state == "stopped" for state, *_ in seen[0])


class _StopHereError(BaseException):
    pass


@pytest.mark.parametrize("batch_size", [None, 4])
def test_a_run_that_was_cut_off_goes_on_with_the_same_trials(batch_size, tmp_path):
    learns = objective()

    def dies(params, trial):
        if trial.number == 9:
            raise _StopHereError
        return learns(params, trial)

    options = {"seed": 3, "path": tmp_path / "r.db"}
    with Study(SPACE, "kriging", **options) as study, pytest.raises(_StopHereError):
        study.run(dies, 14, batch_size=batch_size)
    with Study(SPACE, "kriging", **options) as study:
        study.run(learns, 14, batch_size=batch_size)
    whole = Study(SPACE, "kriging", seed=3).run(learns, 14, batch_size=batch_size)
    assert [(t.point, t.state, t.steps) for t in study.trials] == [(t.point, t.state, t.steps) for t in whole.trials]
    assert any(t.state == "stopped" for t in whole.trials)


def test_a_search_is_told_the_extrapolated_value_and_repeats_are_not_stopped():
    told = []

    class Search:
        def ask(self):
            return [0.25 if len(told) in (0, 8, 9) else 0.3 + 0.07 * len(told)]

        def tell(self, point, value):
            told.append(value)

    study = Study(SPACE, Search(), 0).run(objective(), 10, early_stopping="median")
    assert told == [t.value if t.state == "ok" else t.extra["extrapolated"] for t in study.trials]
    for t in study.trials:
        final = (t.params["x"] - 0.3) ** 2 + 1 / STEPS
        assert t.state == "ok" or abs(t.extra["extrapolated"] - final) < 0.3 * (t.steps[-1][1] - final)
        assert t.extra.get("extrapolated", 1.0) >= study.best_value
    assert [study.trials[k].state for k in (0, 7, 8, 9)] == ["ok", "stopped", "ok", "ok"]


def test_a_trial_that_goes_on_is_complete_and_one_that_diverges_has_failed():
    def stubborn(params, trial):
        for step in range(3):
            trial.report(step, params["x"])
            trial.should_stop()
        return params["x"]

    study = Study(SPACE, "random", 0).run(stubborn, 3, early_stopping=lambda trial: "no" if len(trial.steps) < 3 else None)
    assert {t.state for t in study.trials} == {"ok"}

    def diverges(params, trial):
        trial.report(1, 2.0)
        trial.report(2, float("nan"))
        assert trial.should_stop()

    failed = Study(SPACE, "random", 0).run(diverges, 1, max_failures=None).trials[0]
    assert (failed.state, failed.reason, failed.steps) == ("failed", "the objective reported nan at step 2", ((1.0, 2.0),))


def test_studies_of_several_objectives_and_sweeps_stop_no_trial():
    def pair(params, trial):
        for step in range(4):
            trial.report(step, 1.0)
            assert not trial.should_stop()
        return [params["x"], -params["x"]]

    study = Study(SPACE, "random", 0, direction=["minimize"] * 2).run(pair, 3, early_stopping=lambda trial: "no")
    assert [len(t.steps) for t in study.trials] == [4, 4, 4]


@pytest.mark.parametrize(
    ("step", "value", "said"), [(-1, 0.0, "step=-1"), ("a", 0.0, "step='a'"), (np.inf, 0.0, "step=inf"), (3, "b", "value='b'")]
)
def test_reports_that_are_no_numbers_are_refused(step, value, said):
    with pytest.raises(ArgumentError, match=said):
        CurrentTrial(0, 0).report(step, value)


def test_steps_ascend():
    trial = CurrentTrial(0, 0)
    trial.report(2, 1.0)
    with pytest.raises(ArgumentError, match="not above the step 2"):
        trial.report(2, 1.0)


def test_a_rule_returns_text():
    study = Study(SPACE, "random", 0).run(objective(), 1, early_stopping=lambda trial: True, max_failures=None)
    assert "return the reason as text" in study.trials[0].reason


def test_a_run_whose_trials_are_all_stopped_has_no_best_one():
    study = Study(SPACE, "random", 0).run(objective(), 6, early_stopping=lambda trial: "no")
    with pytest.raises(NoCompletedTrialError, match="6 were stopped early"):
        study.recommend()


def test_a_rule_can_be_made_of_several():
    def either(trial):
        reasons = [ImprovementUnlikely()(trial), ImprovementUnlikely(1e-9, patience=5)(trial)]
        return reasons[0] or reasons[1]

    alone, together = (run(early_stopping=rule).trials for rule in ("improvement", either))
    assert [(t.steps, t.reason) for t in together] == [(t.steps, t.reason) for t in alone]


@pytest.mark.parametrize("bad", [{"probability": 1.0}, {"patience": 0}, {"min_trials": True}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(ArgumentError, match=next(iter(bad))):
        ImprovementUnlikely(**bad)
    with pytest.raises(ArgumentError, match="min_steps"):
        BelowMedian(min_steps=0)


def curves(n, rng):
    points = rng.random((n, 1))
    return [Trial(k, {}, (u,), "ok", u + 0.1, steps=tuple((s, u + 1 / s) for s in range(1, 11))) for k, (u,) in enumerate(points)]


def test_the_median_rule_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    finished = tuple(curves(9, rng))
    for u in rng.random(8):
        trial = CurrentTrial(9, 0, point=(u,), finished=finished, domain=Domain.continuous(1))
        for step in range(1, 6):
            trial.steps.append((step, u + 1 / step))
            means = [np.mean([value for at, value in t.steps if at <= step]) for t in finished]
            assert (BelowMedian()(trial) is not None) == (min(v for _, v in trial.steps) > np.median(means))


def test_the_model_gives_bad_trials_no_chance_and_good_ones_one():
    finished = tuple(curves(20, np.random.default_rng(1)))
    best = min(t.point[0] for t in finished)
    for u, stops in [(0.9, True), (max(best - 0.1, 0.0), False)]:
        trial = CurrentTrial(20, 0, point=(u,), finished=finished, domain=Domain.continuous(1))
        for step in range(1, 4):
            trial.steps.append((step, u + 1 / step))
        rule = ImprovementUnlikely(patience=1)
        assert (rule(trial) is not None) == stops
        assert rule(pickle.loads(pickle.dumps(trial))) == rule(trial)
        trial.steps.append((10, u + 0.1))
        assert rule(trial) is None  # nothing is left to be saved


def test_optuna_has_them_as_pruned_trials_and_back():
    optuna_exchange = pytest.importorskip("spotsvm.study.optuna")
    study = run()
    theirs = optuna_exchange.to_optuna(study)
    assert [t.state.name == "PRUNED" for t in theirs.trials] == [t.state == "stopped" for t in study.trials]
    back = optuna_exchange.from_optuna(theirs, SPACE, seed=0)
    assert [(t.state, t.value, t.steps) for t in back.trials] == [(t.state, t.value, t.steps) for t in study.trials]


def third(trial):
    return "now" if trial.number > 3 and len(trial.steps) == 3 else None


@pytest.mark.parametrize(
    ("rule", "sign"), [("improvement", 1.0), ("median", -1.0), (BelowMedian(min_steps=3), 1.0), (third, -1.0)]
)
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
    assert study.trials[study.recommend().number].state == study.best_trial.state == "ok"
    back = Study.from_frame(frame, SPACE, direction=study.direction, seed=0).trials
    assert [(t.state, t.value, t.steps[-1:]) for t in back] == [
        (t.state, t.value, t.steps[-1:] if t.state == "stopped" else ()) for t in study.trials
    ]


@pytest.mark.parametrize("rule", ["soon", 3, BelowMedian])
def test_other_rules_are_refused(rule):
    with pytest.raises(ArgumentError, match="early_stopping="):
        run(early_stopping=rule)
