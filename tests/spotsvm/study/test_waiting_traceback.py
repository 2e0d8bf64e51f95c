"""The traceback of an outcome that waits for its turn."""

from completed_trials import SQUARE as SPACE

from spotsvm import Study
from spotsvm.study.record.record import read_ledger


def broken(params):
    return undefined_name(params)  # noqa: F821


def test_the_traceback_of_an_outcome_that_waits_for_its_turn_is_recorded(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        from spotsvm.trials.evaluation import call

        study._books.hold(study.ask(), call(broken, {"x": 1.0}))
    waiting = read_ledger(tmp_path / "r.db").outcomes[0]
    assert "return undefined_name(params)" in waiting.traceback
    assert waiting.error_type == "NameError"
