import numpy as np
import pandas as pd
import pytest

from spotsvm import Optimism, Study, oversearching
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.luck.fold_bias import optimism_of_folds

SPACE = {"x": [0, 1, 2, 3, 4, 5]}
SCORES = np.random.default_rng(0).random((6, 4))


def run(objective, direction="maximize", n_trials=6):
    return Study(SPACE, "random", direction=direction, seed=0).run(objective, n_trials=n_trials)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("returned", [list, tuple, np.asarray])
def test_it_is_the_estimate_of_the_scores_that_the_objective_returns(sign, returned):
    study = run(lambda p: {"folds": returned(sign * SCORES[p["x"]])}, "maximize" if sign > 0 else "minimize")
    order = [t.params["x"] for t in study.trials]
    expected = optimism_of_folds(SCORES[order])
    found = oversearching(study)
    assert (found.how, found.n_trials) == ("folds", 6)
    for name in ("optimism", "tuned_score", "interval"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))
    assert found.tuned_score == pytest.approx(sign * study.best_value)
    assert found.rows[0]["params"] == study.best_params
    assert found.metric == ("value" if sign > 0 else "neg_value")
    assert study.folds()["test_value"].to_numpy().reshape(6, 4)[0] == pytest.approx(sign * SCORES[order[0]])
    assert f"The tuned value of {'' if sign > 0 else '-'}0.77 is probably 0.07" in found.summary()
    assert ("too high" if sign > 0 else "too low") in found.summary()
    assert "imum" not in found.summary()  # the range of the values of any objective is not known


def test_the_report_says_the_same(tmp_path):
    study = run(lambda p: {"folds": -SCORES[p["x"]]}, "minimize")
    page = study.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert oversearching(study).summary().splitlines()[0] in page


def test_a_value_beside_the_scores_is_kept():
    study = run(lambda p: {"value": float(p["x"]), "folds": SCORES[p["x"]], "seconds": 1.0})
    assert study.best_value == 5.0
    assert study.trials[0].extra["seconds"] == 1.0
    with pytest.raises(ArgumentError, match=r"are not the means of their fold scores; return \{'folds': scores\} alone"):
        oversearching(study)
    texts = run(lambda p: {"value": 1.0, "folds": ["a", "b"]}, n_trials=1)
    assert texts.trials[0].attributes == {"folds": ["a", "b"]}


def test_a_score_of_a_fold_that_is_no_number_fails_the_trial():
    study = run(lambda p: {"folds": [np.nan if p["x"] == 0 else 1.0, 0.5]})
    assert {t.state for t in study.trials if t.params["x"] == 0} == {"failed"}
    assert oversearching(study).tuned_score == 0.75


def test_it_says_what_it_needs():
    with pytest.raises(ArgumentError, match=r"no fold scores; let the objective return those .* as \{\"folds\": scores\}"):
        oversearching(run(lambda p: float(p["x"])))
    with pytest.raises(ArgumentError, match="two or more folds"):
        oversearching(run(lambda p: {"folds": [float(p["x"])]}))
    with pytest.raises(NoCompletedTrialError, match="no trial has been completed"):
        oversearching(Study(SPACE, "random", seed=0))
    study = run(lambda p: {"folds": SCORES[p["x"]]})
    for wrong in ({"method": "nested"}, {"X": SCORES}, {"groups": [1]}, {"path": "records"}):
        with pytest.raises(ArgumentError, match="search is a Study, whose objective has its own rows: .* such as SpotSearchCV"):
            oversearching(study, **wrong)
    several = Study(SPACE, "random", direction=("maximize", "minimize"), seed=0).run(lambda p: (1.0, 2.0), n_trials=2)
    with pytest.raises(ArgumentError, match="a Study of several objectives"):
        oversearching(several)
    with pytest.raises(ArgumentError, match="confidence=2 is not between 0 and 1"):
        oversearching(study, confidence=2)


def test_the_resamples_are_written_as_csv(tmp_path):
    found = oversearching(run(lambda p: {"folds": SCORES[p["x"]]}))
    found.to_csv(tmp_path / "resamples.csv")
    read = pd.read_csv(tmp_path / "resamples.csv")
    pd.testing.assert_frame_equal(read, found.frame())
    assert Optimism.from_dict(found.to_dict()) == found
