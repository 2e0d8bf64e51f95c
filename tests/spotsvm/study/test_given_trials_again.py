"""The code of a report adds the trials again that were given."""

import pytest
from completed_trials import bowl, facts
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import SpaceError
from spotsvm.reports.repeat import code_snippet

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
ELSEWHERE = [({"x": 0.1 * k, "y": 1 - 0.07 * k**1.3}, 0.2 + 0.01 * k) for k in range(4)]


LISTED = {"x": uniform(0, 1), "n": [1, 2, 3]}
WEIGHTS = {"x": uniform(0, 1), "weight": [{0: 5}, None, "balanced"]}


@pytest.mark.parametrize(("space", "name"), [(LISTED, "n"), (WEIGHTS, "weight")])
def test_the_values_of_a_profiled_list_are_those_that_were_given(space, name):
    study = Study(space, "random", 0, sweep=name)
    for k, value in enumerate(space[name]):
        assert study.add_trial({"x": 0.25 * k, name: value}, 0.5).params == {"x": 0.25 * k, name: value}
    path = [(value, 0.5 - 0.125 * k) for k, value in enumerate(space[name])]
    assert study.add_trial({"x": 0.75}, path).params == {"x": 0.75, name: space[name][-1]}
    failed = study.add_trial({"x": 0.875}, [(space[name][0], 0.25), (space[name][1], float("nan"))])
    assert failed.params == {"x": 0.875, name: space[name][0]}
    found = [(dict(t.params), t.value) for t in study.trials]
    assert [(params[name], value) for params, value in found if params["x"] == 0.75] == [path[2], path[0], path[1]]
    with pytest.raises(SpaceError, match=f"{name}=7"):
        study.add_trial({"x": 0.5, name: 7}, 0.5)
    again = Study.from_frame(study.frame(), space, "random", 0, sweep=name)
    assert [(dict(t.params), t.value) for t in again.trials] == found
    made = {"objective": lambda p: []}
    exec(code_snippet(study).split("study.run")[0], made)
    assert [(dict(t.params), t.value) for t in made["study"].trials] == found


def test_the_code_of_a_report_adds_them_again():
    study = Study(SPACE, "kriging", 0, noise=False)
    for params, value in ELSEWHERE:
        study.add_trial(params, value)
    study.add_trial({"x": 0.5, "y": 0.5}, float("nan"))
    study.run(bowl, n_trials=9)
    made = {"objective": bowl}
    exec(code_snippet(study), made)
    assert facts(made["study"]) == facts(study)
