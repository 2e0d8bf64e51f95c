import re
import sys
import warnings

import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import bowl, facts

from spotsvm import Study
from spotsvm.errors import ArgumentError, NoCompletedTrialError


def test_a_second_run_says_that_its_trials_exist_and_more_adds_to_them(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        study.run(bowl, 10)
        with pytest.warns(UserWarning, match=r"^10 of 10 trials exist already, and nothing is evaluated; run\(more=...\) adds"):
            study.run(bowl, 10)
        assert study.run(bowl, more=4).n_finished == 14
    with warnings.catch_warnings(), Study(SPACE, "random", 0, path=tmp_path / "r.db") as again:
        warnings.simplefilter("error")
        assert again.run(bowl, 14).n_finished == 14, "a program that resumes its record is not warned"
        assert again.run(bowl, more=2, batch_size=1).n_finished == 16
    assert facts(again) == facts(Study(SPACE, "random", 0).run(bowl, 16))


@pytest.mark.parametrize("more", [-1, 1.5, True, "2"])
def test_what_is_no_number_of_further_trials_is_refused(more):
    with pytest.raises(ArgumentError, match=r"more=.* is not a number of trials; use a whole number"):
        Study(SPACE, "random", 0).run(bowl, more=more)


def test_total_and_further_trials_are_not_both_given():
    with pytest.raises(ArgumentError, match="n_trials=5 and more=2 are both given; use one of them"):
        Study(SPACE, "random", 0).run(bowl, 5, more=2)


def test_the_best_has_names_of_its_own():
    study = Study(SPACE, "random", 0, direction="maximize").run(bowl, 8)
    assert study.best_value == max(t.value for t in study.trials) == study.best_trial.value
    assert study.best_params == study.best_trial.params
    study.best_params["x"] = 9.0
    assert study.best_params == study.best_trial.params
    with pytest.raises(NoCompletedTrialError):
        Study(SPACE).best_value  # noqa: B018
    with pytest.raises(ArgumentError, match="best_trial needs one objective"):
        Study(SPACE, "random", direction=("minimize", "minimize")).best_params  # noqa: B018


def test_progress_is_a_line_for_each_tenth(capsys):
    told = []
    study = Study(SPACE, "random", 0).run(bowl, 25, progress=True, callback=lambda study, trial: told.append(trial))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"{n} of 25 trials" for n in (3, 5, 8, 10, 13, 15, 18, 20, 23, 25)]
    assert lines[-1] == f"25 of 25 trials, best value {study.best_value:.6g}"
    assert len(told) == 25
    study.run(bowl, more=2, progress=True)
    assert len(capsys.readouterr().err.splitlines()) == 1
    Study(SPACE, "random", 0, direction=("minimize", "minimize")).run(lambda p: [1.0, 2.0], 2, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"1 of 2 trials, about \S+ \w+ left", lines[0])
    assert lines[1:] == ["2 of 2 trials"]


def test_on_a_terminal_progress_is_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    Study(SPACE, "random", 0).run(bowl, 5, progress=True)
    said = capsys.readouterr().err
    assert "5/5" in said
    assert "incumbent" in said
