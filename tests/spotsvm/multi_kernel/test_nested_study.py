from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform

from spotsvm import NestedSearch, Space, Stage, Study, StudyMismatchError
from spotsvm.surrogates import Domain

SPACE = {"gamma1": loguniform(1e-4, 1e2), "gamma2": loguniform(1e-4, 1e2)}


def nested(n_first=8, inner="vns"):
    stages = [
        Stage(Domain.continuous(1), n_first, lambda u: np.repeat(u, 2), lambda u: u[:1], name="one gamma"),
        Stage(Space(SPACE).domain, 20, name="a gamma each"),
    ]
    return partial(NestedSearch, stages=stages, inner=inner)


def objective(p):
    return (np.log10(p["gamma1"]) + 2) ** 2 + (np.log10(p["gamma2"]) - 1) ** 2


@pytest.mark.parametrize("inner", ["vns", "kriging"])
@pytest.mark.parametrize("cut", [6, 8, 11])
def test_a_nested_study_is_resumed_in_any_stage(tmp_path, inner, cut):
    whole = Study(SPACE, nested(inner=inner), seed=3).run(objective, n_trials=15)
    with Study(SPACE, nested(inner=inner), seed=3, path=tmp_path / "record.db") as study:
        for _ in range(cut):
            trial = study.ask()
            study.tell(trial, objective(trial.params))
    with Study(SPACE, nested(inner=inner), seed=3, path=tmp_path / "record.db") as study:
        study.run(objective, n_trials=15)
        assert [t.point for t in study.trials] == [t.point for t in whole.trials]
    equal = [t.params["gamma1"] == pytest.approx(t.params["gamma2"]) for t in whole.trials]
    assert equal == [True] * 8 + [False] * 7
    assert [t.note for t in whole.trials][7:9] == ["stage 1 of 2, one gamma", "stage 2 of 2, a gamma each"]


def test_another_nesting_is_another_study(tmp_path):
    Study(SPACE, nested(), seed=3, path=tmp_path / "record.db").close()
    with pytest.raises(StudyMismatchError, match="n_trials=8"):
        Study(SPACE, nested(n_first=9), seed=3, path=tmp_path / "record.db")


def test_a_batch_depends_on_its_size_alone():
    first, again = (Study(SPACE, nested(), seed=1).run(objective, n_trials=13, batch_size=4) for _ in range(2))
    assert [t.point for t in first.trials] == [t.point for t in again.trials]
