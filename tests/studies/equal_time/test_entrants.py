import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV, cross_val_score
from sklearn.svm import SVC

from spotsvm.studies.equal_time import entrants
from spotsvm.studies.equal_time.entrants import DEFAULTS, ENTRANTS, SPOT, Trail, missing_packages
from spotsvm.studies.equal_time.sets import CLASSES, MOST_ROWS, TARGETS, read_rows
from spotsvm.studies.equal_time.tasks import TASKS, ColumnGammaSVC, Job


def job_of(task="svc_rbf", rows=60):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(rows)
    return Job(TASKS[task], X, y if TASKS[task].regression else (y > 0.5).astype(int), seed=3)


class Clock:
    """Processor time that goes on by a second at each look."""

    def __init__(self):
        self.now = 0.0

    def process_time(self):
        self.now += 1.0
        return self.now


def test_a_trail_returns_what_was_known_within_each_budget(monkeypatch):
    monkeypatch.setattr(entrants, "time", Clock())
    trail = Trail([0.5, 1.5, 3.5])
    for C, score in ((1.0, 0.8), (2.0, 0.7), (3.0, 0.9), (4.0, 1.0)):
        trail.look({"C": C}, score)
    assert trail.is_over
    assert trail.choices() == [({}, 0.0, 0), ({"C": 1.0}, 1.0, 1), ({"C": 3.0}, 3.0, 3)]


def test_random_search_is_scikit_learns():
    job = job_of()
    choices = ENTRANTS["random search"](job, [0.02, 0.3])
    assert choices[1].looks >= choices[0].looks
    n = choices[1].looks
    theirs = RandomizedSearchCV(SVC(), job.space, n_iter=n, cv=job.folds, random_state=job.seed).fit(job.X, job.y)
    assert choices[1].params == theirs.best_params_
    assert job.score(choices[1].params) == theirs.best_score_


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ENTRANTS)
def test_every_entrant_returns_settings_of_the_task_within_its_time(task, name):
    if missing := missing_packages(name):
        pytest.skip(f"{missing} not installed")
    job = job_of(task)
    with entrants.measured_calmly():
        choices = ENTRANTS[name](job, [0.0, 0.2])
    assert choices[0] == ({}, 0.0, 0)
    assert choices[1].seconds <= 0.2
    assert set(choices[1].params) == (set(job.space) if choices[1].looks else set())
    if name not in (SPOT, "grid of paths"):  # the first steps of these may have to be compiled
        assert (choices[1].looks == 0) == (name == DEFAULTS)
    assert np.isfinite(job.error(choices[1].params, job.X, job.y))


def test_searches_end_soon_after_their_time():
    job = job_of()
    entrants.warm_up("svc_rbf", ENTRANTS[SPOT])
    began = entrants.time.process_time()
    ENTRANTS[SPOT](job, [0.3])
    assert entrants.time.process_time() - began < 1.5


def test_the_machines_with_a_gamma_for_each_column_are_the_same():
    job = job_of("svc_ard")
    params = {"C": 3.0, "gamma__0": 0.5, "gamma__1": 0.1, "gamma__2": 2.0}
    theirs, ours = (clone(machine).set_params(**params) for machine in (job.estimator, job.own))
    assert isinstance(theirs, ColumnGammaSVC)
    assert (theirs.fit(job.X, job.y).predict(job.X) == ours.fit(job.X, job.y).predict(job.X)).all()
    equal = {"C": 3.0} | {f"gamma__{k}": 0.2 for k in range(3)}
    plain = cross_val_score(SVC(C=3.0, gamma=0.2), job.X, job.y, cv=job.folds).mean()
    assert job.score(equal) == plain
    assert job.task.embed(3, {"C": 3.0, "gamma": 0.2}) == equal
    assert job.score({}) == cross_val_score(SVC(gamma=1 / 3), job.X, job.y, cv=job.folds).mean()


def test_the_grids():
    assert [len(job_of(task).task.grid(100, 9)) for task in TASKS] == [30, 30, 30, 60]
    settings = job_of().task.grid(100, 9)
    assert settings[0] == pytest.approx({"gamma": 2.0**-15, "C": 2.0**-5})
    assert settings[-1] == pytest.approx({"gamma": 2.0**3, "C": 2.0**15})
    assert job_of("pipeline").task.grid(100, 9)[-1]["pca__n_components"] == 3


def test_sets_of_scikit_learn():
    for name in ("iris", "wine", "breast cancer", "digits", "diabetes", "wine, alcohol", "friedman 2"):
        rows = read_rows(name)
        assert 80 <= len(rows.y) <= MOST_ROWS
        regression = name in TARGETS
        X, y, new_X, new_y = rows.split(0, regression)
        assert len(new_y) == pytest.approx(len(rows.y) / 3, abs=1)
        assert X.mean(axis=0) == pytest.approx(0)
        assert len(y) + len(new_y) == len(rows.y)
        assert y.std() == pytest.approx(1) if regression else set(y) == set(new_y)
        again = rows.split(0, regression)
        assert (again[0] == X).all()
    assert len(CLASSES) >= 20


def test_sets_of_the_folder(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    n = 2100
    frame = {
        "x": rng.standard_normal(n),
        "kind": rng.choice(["a", "b"], n),
        "same": 1,
        "part": "train",
        "y": rng.choice(["u", "v"], n),
    }
    pd.DataFrame(frame).to_csv(tmp_path / "sonar.csv", index=False)
    spectra = {"a1": rng.standard_normal(90), "moisture": 1.0, "protein": 2.0, "y": rng.standard_normal(90)}
    pd.DataFrame(spectra).to_csv(tmp_path / "tecator.csv", index=False)
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path))
    rows = read_rows("sonar")
    assert rows.X.shape == (800, 3)
    assert set(rows.y) == {0, 1}
    assert read_rows("tecator, fat").X.shape == (90, 1)
    assert read_rows("tecator, fat").y == pytest.approx(spectra["y"])
