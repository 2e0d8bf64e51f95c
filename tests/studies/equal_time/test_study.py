import re

import numpy as np
import pandas as pd
import pytest

from spotsvm.common.errors import ArgumentError, DataError
from spotsvm.studies.equal_time.budgets import Choice
from spotsvm.studies.equal_time.entrants import DEFAULTS, ENTRANTS, RANDOM, REFERENCE, missing_packages
from spotsvm.studies.equal_time.study import EqualTimeStudy

NEEDED = {name: ENTRANTS[name] for name in (DEFAULTS, REFERENCE, RANDOM)}
KEYS = ["task", "set", "split", "entrant", "budget"]


def fixed(job, budgets):
    return [Choice({"C": 4.0}, 0.5 * budget, 7) for budget in budgets]


def small(**options):
    return EqualTimeStudy(quick=True, **({"entrants": tuple(NEEDED), "units": (2, 4)} | options))


@pytest.fixture(scope="module")
def study():
    return EqualTimeStudy(quick=True).run()


def test_rows_of_every_entrant_and_budget(study):
    runs = study.frame()
    running = [name for name in ENTRANTS if not missing_packages(name)]
    assert runs[KEYS].drop_duplicates().shape[0] == len(runs) == 2 * len(running) * 2
    fixed = runs.entrant == REFERENCE
    assert (runs.spent <= runs.budget)[~fixed].all()
    assert (runs.looks[fixed] == 25).all()
    assert (study.errors().set_index("entrant")["mean"][REFERENCE] == 0).all()
    assert runs.score.between(0, 1).all()
    assert runs.error.between(0, 100).all()
    assert (runs.regret_points >= 0).all()
    defaults = runs[runs.entrant == DEFAULTS]
    assert (defaults.looks == 0).all()
    assert (defaults.setting == "{}").all()
    assert study.table().entrant.tolist() == running
    assert study.table()["4 units"].notna().all()


def test_what_it_says(study, tmp_path):
    names = {file.name for file in study.write(tmp_path)}
    tables = ("runs", "errors", "regrets", "regrets_in_points")
    assert {"equal_time.png", *(f"equal_time_{table}.csv" for table in tables)} <= names
    points = study.regrets_in_points().set_index(["entrant", "budget"])["mean"]
    runs = study.frame()
    assert points[DEFAULTS, 8] == pytest.approx(runs[(runs.entrant == DEFAULTS) & (runs.budget == 8)].regret_points.mean())
    text = (tmp_path / "equal_time.md").read_text()
    assert "svc_rbf, 8 units, 2 data sets, error on new rows in points against RandomizedSearchCV(n_iter=25): " in text
    assert re.search(r"RandomizedSearchCV\(n_iter=25\) took, in the median, \d+ units \(svc_rbf\)\.", text)
    for name in ENTRANTS:
        assert (f"{name} (" in study.conclusion()) == bool(missing_packages(name))
    assert [panel.get_title() for panel in study.figure().axes][0] == "svc_rbf"


def test_an_entrant_of_ones_own_and_what_is_missing(monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    study = small(entrants=NEEDED | {"fixed": fixed}, sets=("iris", "sonar"))
    runs = study.frame()
    assert runs["set"].unique().tolist() == ["iris"]
    own = runs[runs.entrant == "fixed"]
    assert own.setting.tolist() == ['{"C": 4.0}'] * 2
    assert own.spent.tolist() == pytest.approx([1.0, 2.0])
    assert "Left out: sonar (the study needs the data set 'sonar'" in study.conclusion()
    with pytest.raises(DataError, match="no data set for svc_rbf"):
        small(sets=("sonar",)).run()
    with pytest.raises(DataError, match="no data set for svc_rbf"):
        small(sets=("diabetes",)).run()


def test_it_goes_on_from_its_file(tmp_path):
    file = tmp_path / "rows.csv"
    first = small(path=file).frame()
    written = pd.read_csv(file)
    assert len(written) == len(first)
    written[written["set"] == "iris"].to_csv(file, index=False)
    again = small(path=file).frame()
    iris = again["set"] == "iris"
    one, other = (frame[frame["set"] == "iris"].drop(columns=["regret", "regret_points"]) for frame in (again, first))
    pd.testing.assert_frame_equal(one, other)
    assert again[KEYS].equals(first[KEYS])
    assert iris.sum() == 6
    # a further entrant runs alone, and one that was left out of the study does not count
    more = small(path=file, entrants=NEEDED | {"fixed": fixed}).frame()
    assert len(more) == 16
    assert len(pd.read_csv(file)) == 16
    assert len(small(path=file).frame()) == 12
    with pytest.raises(DataError, match="other units"):
        small(path=file, units=(2, 5)).run()


def test_sets_with_many_columns_have_no_gamma_for_each():
    study = small(tasks=("svc_ard",), sets=("iris", "breast cancer"))
    found = {(work.task, work.rows.name) for work in study._all_work(study._read_sets())}
    assert found == {("svc_ard", "iris")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_splits": 0}, "n_splits=0 is too few"),
        ({"units": ()}, "not times that rise"),
        ({"units": (0, 5)}, "not times that rise"),
        ({"units": (25, 12)}, "not times that rise"),
        ({"tasks": ("svm",)}, "tasks: 'svm' is unknown"),
        ({"sets": ("irises",)}, "sets: 'irises' is unknown"),
        ({"entrants": ("defaults", "grid")}, "entrants: 'grid' is unknown"),
        ({"entrants": ("defaults",)}, r"has no 'RandomizedSearchCV\(n_iter=25\)'"),
        ({"entrants": ("defaults", "RandomizedSearchCV(n_iter=25)")}, "has no 'random search'"),
        ({"entrants": {"random search": fixed}}, "has no 'defaults'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        EqualTimeStudy(**arguments)


def test_the_reference_budget():
    assert EqualTimeStudy().reference == 25
    assert small().reference == 4
    assert np.ndim(EqualTimeStudy().units) == 1
