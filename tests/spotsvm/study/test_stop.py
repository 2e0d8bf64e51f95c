import logging

import numpy as np
import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import SVM, bowl
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import ImprovementBelowUncertainty, Space, SpotSearchCV, Study, Trial
from spotsvm.errors import ArgumentError, NotPositiveDefiniteError

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


EARLY = ImprovementBelowUncertainty(factor=1.0, patience=2, min_trials=8)


def with_folds(params, spread=0.05):
    return {"value": bowl(params)} | {f"split{k}_test_score": bowl(params) + spread * (k - 1) for k in range(3)}


class Told:
    """A stop rule that stops after three trials in a row at which it is told of too small improvements."""

    def __init__(self, improvements):
        self.improvements, self.asked = improvements, []

    def __call__(self, study):
        n = study.n_finished
        self.asked.append(n)
        last = self.improvements[max(n - 3, 0) : n]
        return f"three in a row after {n}" if len(last) == 3 and all(one is not None and one < 0.5 for one in last) else None


def run(stop, n_trials=30, objective=bowl, search="random", **changed):
    return Study(SPACE, search, 0, **changed).run(objective, n_trials, stop=stop)


@pytest.mark.parametrize(
    ("improvements", "end"),
    [
        ([1, 0.1, 0.1, 0.1, 1, 1], 4),
        ([1, 0.1, 0.1, 0.6, 0.1, 0.1, 0.1, 1], 7),
        ([0.1] * 9, 3),
        ([1] * 10, 10),
        ([0.5] * 10, 10),
        ([None, None, 0.1, 0.1, 0.1], 5),
        ([0.1, 0.1, None, 0.1, 0.1, 0.1], 6),
    ],
)
def test_it_stops_after_as_many_trials_in_a_row_as_it_has_patience(improvements, end):
    rule = Told(improvements)
    study = run(rule, n_trials=len(improvements))
    assert study.n_finished == end
    assert study.findings["stop"]["stopped"] is (end < len(improvements) or improvements[-3:] == [0.1] * 3)
    assert study.findings["stop"]["n_trials"] == end
    assert rule.asked == list(range(1, end + 1)), "each number of trials is asked about once"
    sentence = (
        f"three in a row after {end}" if study.findings["stop"]["stopped"] else f"did not stop the search after {end} trials"
    )
    assert sentence in study.findings["stop"]["sentence"]


def test_what_was_finished_before_counts(tmp_path):
    improvements = [1, 1, 1, 0.1, 0.1, 0.1, 1, 1]
    whole = run(Told(improvements), 8)
    with Study(SPACE, "random", 0, path=tmp_path / "a.db") as study:
        study.run(bowl, 5, stop=Told(improvements))
        assert not study.findings["stop"]["stopped"]
    with Study(SPACE, "random", 0, path=tmp_path / "a.db") as again:
        again.run(bowl, 8, stop=Told(improvements))
        assert [t.params for t in again.trials] == [t.params for t in whole.trials]
        assert again.findings["stop"] | {"rule": ""} == whole.findings["stop"] | {"rule": ""}
        again.run(bowl, 8, stop=Told(improvements))
        assert again.n_finished == 6, "a study that has stopped is not gone on with"
        again.run(bowl, 8)
        assert again.n_finished == 8


@pytest.mark.parametrize("search", ["kriging", "cmaes"])
def test_it_stops_any_search_by_the_folds_of_the_incumbent(search):
    study = run(EARLY, 60, with_folds, search)
    finding = study.findings["stop"]
    assert finding["stopped"]
    assert 8 <= study.n_finished < 60
    assert finding["basis"] == "folds"
    assert finding["uncertainty"] == pytest.approx(np.sqrt((1 / 3 + 1 / 2) * 0.05**2))
    assert finding["expected_improvement"] < finding["uncertainty"]
    assert finding["sentence"].startswith(f"The search stopped after {study.n_finished} trials: the largest expected improvement")


def test_a_look_is_a_function_of_the_trials_alone():
    study = run(None, 25, with_folds)
    scores = run(None, 25, lambda p: {k: -v for k, v in with_folds(p).items()}, direction="maximize")
    looks = [
        EARLY.look(s.trials, s.space, sign=sign, noise=s.noise, seed=0)
        for s, sign in ((study, 1.0), (study, 1.0), (scores, -1.0))
    ]
    assert study.findings == {}, "there is no finding without a rule"
    assert looks[0] == looks[1]
    assert looks[2].expected_improvement == pytest.approx(looks[0].expected_improvement)
    assert looks[2].uncertainty == pytest.approx(looks[0].uncertainty)


def test_noise_is_an_uncertainty_and_an_objective_without_one_is_never_stopped():
    study = run(EARLY, 12, search="kriging")
    assert study.n_finished == 12
    finding = study.findings["stop"]
    assert (finding["stopped"], finding["basis"]) == (False, "none")
    assert "has no uncertainty to compare with" in finding["sentence"]
    rng = np.random.default_rng(0)
    study = run(EARLY, 60, lambda p: bowl(p) + 0.2 * rng.normal(), "kriging")
    assert study.findings["stop"]["basis"] == "noise"
    assert study.n_finished < 60


def test_too_few_trials_and_failures_are_no_end():
    study = run(EARLY, 7, with_folds)
    assert "too little is known after 7 trials" in study.findings["stop"]["sentence"]

    none = Study(SPACE, "random", 0).run(lambda p: float("nan"), 12, stop=EARLY, max_failures=None)
    assert none.n_finished == 12
    assert run(EARLY, 60, lambda p: with_folds(p) if p["x"] < 0.5 else float("nan")).findings["stop"]["stopped"]


def test_a_finite_space_that_is_used_up_has_nothing_to_gain():
    space = Space({"x": [1, 2, 3]})
    trials = [
        Trial(k, {}, tuple(space.domain.snap_one([(k + 0.5) / 3])), "ok", float(k), {"split0_test_a": k, "split1_test_a": k})
        for k in range(3)
    ]
    look = ImprovementBelowUncertainty(min_trials=3).look(trials, space, sign=1.0, noise=False, seed=0)
    assert look.expected_improvement == 0.0


def test_a_model_that_cannot_be_fitted_is_said_and_stops_nothing(monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise NotPositiveDefiniteError("it is not")

    monkeypatch.setattr("spotsvm.study.stop.expected_gain", broken)
    with caplog.at_level(logging.WARNING):
        assert run(EARLY, 10, with_folds).n_finished == 10
    assert "the stop rule cannot judge 8 trials: it is not" in caplog.text


def test_the_rule_of_the_library_is_for_one_objective_and_any_other_for_several():
    study = Study(SPACE, "random", 0, direction=["minimize", "minimize"])
    with pytest.raises(ArgumentError, match="is for one objective"):
        study.run(lambda p: [p["x"], p["y"]], 5, stop="uncertainty")
    assert study.run(lambda p: [p["x"], p["y"]], 5, stop=lambda s: "three" if s.n_finished == 3 else None).n_finished == 3
    X, y = load_iris(return_X_y=True)
    metrics = {"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"}
    search = SpotSearchCV(SVC(), {"C": [1, 2]}, search="nsga2", stop="uncertainty", **metrics)
    with pytest.raises(ArgumentError, match="is for one objective"):
        search.fit(X, y)


@pytest.mark.parametrize(
    "arguments",
    [{"factor": 0}, {"factor": np.inf}, {"patience": 0}, {"patience": 1.5}, {"min_trials": True}, {"test_share": 1.0}],
)
def test_bad_arguments(arguments):
    ((name, value),) = arguments.items()
    with pytest.raises(ArgumentError, match=f"{name}={value!r}"):
        ImprovementBelowUncertainty(**arguments)


def test_a_rule_gives_its_reason_as_text():
    with pytest.raises(ArgumentError, match="stop=.* returned True; return the reason as text, or None"):
        run(lambda study: True)


def test_a_rule_sees_the_study_as_it_was_after_each_trial(tmp_path):
    seen = []

    def rule(study):
        states = [t.state for t in study.trials]
        seen.append((study.n_finished, len(study.finished_trials), states.count("ok"), study.best_value))

    study = Study(SPACE, "random", 0)
    study.run(bowl, 6, batch_size=3, stop=rule)
    values = [t.value for t in study.trials]
    assert seen == [(n, n, n, min(values[:n])) for n in range(1, 7)]
    assert [len(study.after(n).trials) for n in range(7)] == [0, 3, 3, 3, 6, 6, 6]
    assert [t.state for t in study.after(4).trials] == ["ok"] * 4 + ["running"] * 2
    assert study.after(6) is study


@pytest.mark.parametrize("stop", ["soon", 3, True, ImprovementBelowUncertainty])
def test_what_is_no_rule(stop):
    with pytest.raises(ArgumentError, match="stop=.* is not a stop rule; use None, 'uncertainty'"):
        run(stop)


def test_in_a_cross_validated_search(tmp_path):
    X, y = load_iris(return_X_y=True)

    def fitted(**changed):
        return SpotSearchCV(SVC(), SVM, search="random", cv=3, random_state=0, **PLAIN, **{"n_iter": 30} | changed).fit(X, y)

    search = fitted(stop=EARLY, path=tmp_path / "a.db")
    n = search.study_.n_finished
    assert 8 <= n < 30
    assert len(search.cv_results_["params"]) == n
    folds = [search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(3)]
    uncertainty = np.sqrt((1 / 3 + 1 / 2) * np.var(folds, ddof=1))  # a third of the rows is in a test fold
    assert search.study_.findings["stop"]["uncertainty"] == pytest.approx(uncertainty)
    assert search.best_params_ == fitted(n_iter=n).best_params_
    assert fitted(stop=EARLY, path=tmp_path / "a.db").study_.n_finished == n
