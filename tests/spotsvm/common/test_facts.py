"""How trials, status, recommendation and space show themselves."""

import pytest
from scipy.stats import loguniform

from spotsvm import Space, Study
from spotsvm.common.facts import ShowsFacts


@pytest.fixture(scope="module")
def study():
    def objective(params):
        if params["kernel"] == "<b>":
            raise ValueError("no such kernel")
        return params["C"]

    space = {"C": loguniform(1e-2, 1e3), "kernel": ["rbf", "<b>"]}
    return Study(space, "random", 0).run(objective, n_trials=8)


def test_each_shows_the_same_as_text_and_in_a_notebook(study):
    shown = [study.trials[0], study.status(), study.recommend(), study.space]
    for thing in shown:
        assert isinstance(thing, ShowsFacts)
        title, rows = thing._facts()
        html = thing._repr_html_()
        assert html.startswith("<div><p><b>")
        assert html.count("<tr>") == len(rows) > 0
        assert "<b>" not in html.removeprefix("<div><p><b>")  # a value is text


def test_a_trial_has_its_state_value_and_parameters(study):
    good = next(trial for trial in study.trials if trial.state == "ok")
    lines = repr(good).splitlines()
    assert lines[0] == f"Trial {good.number} (ok, {good.value:.6g})"
    assert [line.split()[0] for line in lines[1:]] == ["C", "kernel"]
    failed = next(trial for trial in study.trials if trial.state == "failed")
    assert repr(failed).splitlines()[0] == f"Trial {failed.number} (failed)"
    assert "no such kernel" in repr(failed).splitlines()[-1]


def test_a_status_counts_what_there_is(study):
    status = study.status()
    shown = dict(line.split(maxsplit=1) for line in repr(status).splitlines()[1:])
    assert repr(status).startswith("Status: ended (")
    assert shown["finished"] == "8 of 8"
    assert shown["failed"] == str(status.n_failed)
    assert "running" not in shown


def test_a_space_of_several_dictionaries_has_a_row_for_each_parameter():
    space = Space([{"kernel": ["rbf"], "gamma": (1e-3, 1.0)}, {"kernel": ["linear"]}])
    assert space._repr_html_().count("<tr>") == 3
    assert "dictionary 1" in space._repr_html_()
    assert repr(space).startswith("<Space of ")
