"""Outcomes that wait while a space is widened."""

import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.trials.judging import sweep_outcome
from spotsvm.trials.outcome import Outcome


def test_a_profiled_study_and_several_dictionaries_go_on(tmp_path):
    def space(high):
        return [{"kernel": [kernel], "C": (1.0, high), "g": (0.0, 1.0)} for kernel in ("rbf", "poly")]

    def sweep_outcome(params):
        return {c: (c - 3.0) ** 2 + params["g"] for c in (1.0, 2.0, 4.0)}

    for high in (4.0, 8.0):
        with Study(space(high), "kriging", 0, path=tmp_path / "s.db", sweep="C", noise=False) as study:
            study.run(sweep_outcome, 7 if high == 4.0 else 9)
    assert study.n_finished == 9
    for t in study.trials:
        assert study.space.encode(t.params) == pytest.approx(t.point)


def test_outcomes_that_wait_keep_their_values_of_a_swept_list(tmp_path):
    narrow = {"x": uniform(0, 1), "n": [1, 2], "scale": [(1,), (2,)]}
    wide = narrow | {"n": [0, 2, 1, 3]}
    options = {"path": tmp_path / "s.db", "sweep": "n"}
    with Study(narrow, "random", 0, **options) as study:
        study.ask()
        study._books.hold(study.ask(), sweep_outcome([(1, 0.5), (2, 0.25)], "n", None, study.swept.listed))
    for _ in range(2):  # the second time the record has the wider space
        with Study(wide, "random", **options) as study:
            assert study._books.held(study.trials[1]).sweep == ((2, Outcome("ok", 0.5)), (1, Outcome("ok", 0.25)))
    with Study(wide, "random", **options) as study:
        study.tell(1, study._books.held(study.trials[1]))
        assert [(t.params["n"], t.value) for t in study.trials[1:]] == [(2, 0.25), (1, 0.5)]


def test_outcomes_that_wait_stay_where_another_parameter_is_wider(tmp_path):
    space = {"x": (0.0, 1.0), "scale": [(1,), (2,)]}
    options = {"path": tmp_path / "s.db", "sweep": "scale"}
    with Study(space, "random", 0, **options) as study:
        study._books.hold(study.ask(), sweep_outcome([((2,), 0.5)], "scale", None, study.swept.listed))
    with Study(space | {"x": (0.0, 2.0)}, "random", **options) as study:
        assert study.tell(0, study._books.held(study.trials[0])).params["scale"] == (2,)
