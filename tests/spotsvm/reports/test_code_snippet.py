import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import loguniform, randint, truncnorm, uniform
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, load_study
from spotsvm.reports.repeat import code_snippet
from spotsvm.reports.report import study_page
from spotsvm.trials.findings import STOP, Stop, content_of

pytestmark = pytest.mark.usefixtures("no_pictures")
SPACES = {
    "flat": {"C": loguniform(2**-5, 2**15), "x": uniform(-1, 2), "n": randint(1, 5), "k": ["a", None, 2.5]},
    "branches": [{"k": ["a"], "x": uniform(0, 3)}, {"k": ["b"], "t": truncnorm(-2, 2, loc=1, scale=2), "s": [(1,), (1, 2)]}],
}


def objective(p):
    return float(sum(len(repr(value)) if not isinstance(value, float) else value for value in p.values()) % 1.37)


def again(code, **given):
    assert set(re.findall(r"^from (spotsvm\S*) import", code, flags=re.M)) == {"spotsvm"}  # public names only
    given = dict(given)
    exec(code, given)
    return given["study"]


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("start", [False, True])
def test_the_code_makes_the_very_trials(name, start, tmp_path, capsys):
    path = tmp_path / "run.db"
    first = Study(SPACES[name], "random", 5)
    starts = [dict(first.ask().params) for _ in range(2)] if start else None
    study = Study(SPACES[name], "kriging", 3, direction="maximize", noise=False, path=path, start=starts)
    study.run(objective, n_trials=9)
    study.close()
    code = code_snippet(study)
    assert code_snippet(load_study(path)) == code
    assert "..." not in code
    # a long call has a line for each argument
    assert ("study = Study(\n    space,\n    search='kriging',\n" in code) == start
    made = again(code, objective=objective)
    assert [(dict(t.params), t.value) for t in made.trials] == [(dict(t.params), t.value) for t in study.trials]
    assert "Recommendation (" in capsys.readouterr().out


def test_several_objectives(capsys):
    study = Study({"x": uniform(0, 1)}, "nsga2", 1, direction={"a": "minimize", "b": "maximize"})
    study.run(lambda p: {"values": [p["x"], p["x"] ** 2]}, n_trials=30)
    made = again(code_snippet(study), objective=lambda p: {"values": [p["x"], p["x"] ** 2]})
    assert [t.values for t in made.trials] == [t.values for t in study.trials]


def test_a_cross_validated_study_is_repeated_with_its_own_estimator_and_folds(capsys):
    X, y = load_iris(return_X_y=True)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    search = SpotSearchCV(SVC(), space, n_iter=8, cv=cv, scoring="balanced_accuracy", random_state=0, engine="sklearn").fit(X, y)
    code = code_snippet(search.study_)
    assert "# estimator: SVC()" in code
    made = again(code, estimator=SVC(), X=X, y=y, cv=cv)
    assert [dict(t.params) for t in made.trials] == [dict(t.params) for t in search.study_.trials]
    assert [t.value for t in made.trials] == pytest.approx([t.value for t in search.study_.trials], abs=1e-12)


def test_a_cross_validated_study_with_profiled_class_weights_is_repeated(capsys):
    X, y = load_iris(return_X_y=True)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1), "class_weight": [None, "balanced", {0: 1, 1: 3, 2: 1}]}
    options = {"n_iter": 4, "search": "random", "cv": cv, "random_state": 0}
    search = SpotSearchCV(SVC(tol=1e-6), space, sweep="class_weight", **options).fit(X, y)
    made = again(code_snippet(search.study_), estimator=SVC(tol=1e-6), X=X, y=y, cv=cv)
    assert [dict(t.params) for t in made.trials] == [dict(t.params) for t in search.study_.trials]
    assert [t.value for t in made.trials] == pytest.approx([t.value for t in search.study_.trials], abs=1e-12)


def test_what_no_code_can_be_written_for_is_to_be_filled_in(tmp_path):
    class Own:
        def __init__(self, domain):
            self.rng, self.d = np.random.default_rng(0), domain.dimension

        def ask(self):
            return self.rng.random(self.d)

        def tell(self, point, value):
            pass

    path = tmp_path / "run.db"
    study = Study({"scale": [StandardScaler(), None], "x": uniform(0, 1)}, lambda domain, seed: Own(domain), 0, path=path)
    study.run(lambda p: p["x"], n_trials=3)
    study.close()
    for one in (study, load_study(path)):
        code = code_snippet(one)
        assert "# scale: fill in the objects of the space" in code
        assert "'scale': ..." in code
        assert "search=search" in code
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(code, "code", "exec")


def test_nothing_of_a_record_gets_out_of_its_quotes(tmp_path):
    """Names, texts and code of a record are shown, and whoever pastes them must not execute them."""
    path = tmp_path / "run.db"
    name = "x': 1}\nraise SystemExit\n#"
    study = Study(
        {name: uniform(0, 1)}, "random", 0, path=path, context={"estimator": "SVC()\nraise SystemExit", "scoring": "1+1"}
    )
    study.ledger.about |= {"code": [{name: "__import__('os').abort()"}], "search": "own\nraise SystemExit"}
    study.run(lambda p: 1.0, n_trials=2)
    study.close()
    code = code_snippet(study)
    assert "abort" not in code
    made = {"X": 0, "y": 0, "cv": 0, "scoring": None, "estimator": None, "search": "random"}
    ran = code.replace("study.run(objective, n_trials=2)", "")
    exec(ran.replace("print(study.recommend())", ""), made)
    assert list(made["space"]) == [name]


@pytest.mark.parametrize("how", ["executor", "batch_size"])
def test_trials_that_were_suggested_together_are_again(how, tmp_path, capsys):
    path = tmp_path / "run.db"
    with Study(SPACES["flat"], "kriging", 1, path=path, noise=False) as study:
        if how == "executor":
            with ThreadPoolExecutor(2) as executor:
                study.run(objective, n_trials=18, executor=executor, batch_size=3)
        else:
            study.run(objective, n_trials=18, batch_size=3)
    code = code_snippet(study)
    assert code_snippet(load_study(path)) == code
    assert "n_trials=18, batch_size=3)" in code
    assert [t.point for t in again(code, objective=objective).trials] == [t.point for t in study.trials]
    assert "if the batch size is the same (batch_size=3)" in study_page(study).html()


def test_trials_of_several_workers_are_said_to_come_out_otherwise(tmp_path, capsys):
    with ThreadPoolExecutor(1) as executor:
        study = Study(SPACES["flat"], "cmaes", 1).run(objective, n_trials=24, executor=executor)
    assert [t.point for t in again(code_snippet(study), objective=objective).trials] == [t.point for t in study.trials]
    path = tmp_path / "run.db"
    with ThreadPoolExecutor(2) as executor, Study(SPACES["flat"], "cmaes", 1, path=path) as study:
        study.run(objective, n_trials=12, executor=executor)
    for one in (study, load_study(path)):
        code = code_snippet(one)
        assert "# workers took trials as they became free, or the batch size changed: this runs other trials" in code
        assert "batch_size=" not in code
        assert again(code, objective=objective).n_finished == 12
        assert "several workers took trials as they became free" in study_page(one).html()


def test_a_batch_size_that_changed_on_the_way_is_told(tmp_path):
    path = tmp_path / "run.db"
    for n, size in ((4, 1), (8, 2), (12, 2)):
        with Study(SPACES["flat"], "random", 1, path=path) as study:
            study.run(objective, n_trials=n, batch_size=size)
    assert "batch_size=" not in code_snippet(study)
    assert "the batch size changed during the run" in study_page(load_study(path)).html()


def test_what_was_scored_otherwise_is_told():
    context = {"estimator": "SVC()", "scoring": "'accuracy'", "engine": "auto"}
    study = Study(SPACES["flat"], "random", 1, context=context).run(objective, n_trials=2)
    code = code_snippet(study)
    assert "# the study shared work between folds" in code
    compile(code, "code", "exec")


def test_a_study_that_a_rule_stopped_is_repeated_up_to_there():
    study = Study(SPACES["flat"], "random", 1).run(objective, n_trials=6)
    study._books.plan(50)
    assert "n_trials=50" in code_snippet(study)
    study.add_finding(STOP, content_of(Stop(True, 6, "stop_at", "The rule stopped the run.")))
    assert "n_trials=6" in code_snippet(study)


def test_the_code_has_bounds_and_names_the_conditions():
    def bounded(p):
        return {"value": p["x"], "memory": 1 - p["x"]}

    def halved(p):
        return p["x"] < 0.9

    given = {"constraints": {"memory": ("<=", 0.7)}, "noise": False}
    study = Study({"x": uniform(0, 1)}, "kriging", 0, **given).run(bounded, n_trials=9)
    found = again(code_snippet(study), objective=bounded)
    assert [t.params for t in found.trials] == [t.params for t in study.trials]
    assert found.about == study.about
    study = Study({"x": uniform(0, 1)}, "random", 0, constraints=halved).run(bounded, n_trials=3)
    assert "# constraints: add the condition halved, your function of the parameters\n" in code_snippet(study)


def test_what_repeats_a_tuning_takes_the_place_of_the_code_of_its_study():
    study = Study({"C": [1, 2]}, "random", 0).run(lambda p: p["C"], n_trials=2)
    assert "study.run(objective, n_trials=2)" in study_page(study).html()
    study.add_finding("repeat", {"code": "print('again')\n", "command": "spotsvm tune a.csv --target y"})
    text = study_page(study).html()
    assert "study.run(" not in text
    for one in ("print(&#39;again&#39;)", "spotsvm tune a.csv --target y"):
        assert text.count(one) == 1
