import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV, cross_val_score
from sklearn.svm import SVC

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.equal_time import entrants
from spotsvm.studies.equal_time.entrants import DEFAULTS, ENTRANTS, REFERENCE, SPOT, missing_packages, spot_in_time, spot_search
from spotsvm.studies.equal_time.sets import CLASSES, MOST_ROWS, TARGETS, one_a_family, read_rows
from spotsvm.studies.equal_time.tasks import TASKS, ColumnGammaSVC, Job


def job_of(task="svc_rbf", rows=60):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(rows)
    return Job(TASKS[task], X, y if TASKS[task].regression else (y > 0.5).astype(int), seed=3)


def test_random_search_is_scikit_learns():
    job = job_of()
    choices = ENTRANTS["random search"](job, [0.02, 0.3])
    assert choices[1].looks >= choices[0].looks
    n = choices[1].looks
    theirs = RandomizedSearchCV(SVC(), job.space, n_iter=n, cv=job.folds, random_state=job.seed).fit(job.X, job.y)
    assert choices[1].params == theirs.best_params_
    assert job.score(choices[1].params) == theirs.best_score_
    theirs = RandomizedSearchCV(SVC(), job.space, n_iter=25, cv=job.folds, random_state=job.seed).fit(job.X, job.y)
    fixed = ENTRANTS[REFERENCE](job, [0.0, 0.3])
    assert fixed[0] == fixed[1]
    assert (fixed[0].params, fixed[0].looks) == (theirs.best_params_, 25)


def test_variants_of_spot_search_cv_are_given_by_options():
    job = job_of()
    theirs = SpotSearchCV(SVC(), job.space, n_iter=15, search="random", cv=job.folds, random_state=job.seed).fit(job.X, job.y)
    (choice,) = spot_in_time(job, [60.0], search="random", n_iter=15)
    assert (choice.params, choice.looks) == (theirs.best_params_, 15)
    assert spot_in_time(job, [1e-6], search="random", n_iter=15) == [({}, 0.0, 0)]
    (ended,) = spot_in_time(job, [2.0], search="random")
    assert 0 < ended.looks < 100_000
    assert 0 < ended.seconds <= 2.0
    (found,) = spot_search(job, [0.2], search="random", start={"C": 8.0, "gamma": 0.25}, stop=None)
    assert found.looks > 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ENTRANTS)
def test_every_entrant_returns_settings_of_the_task_within_its_time(task, name):
    if missing := missing_packages(name):
        pytest.skip(f"an entrant needs further packages: pip install {' '.join(missing)}")
    job = job_of(task)
    with entrants.measured_calmly():
        choices = ENTRANTS[name](job, [0.0, 0.2])
    if name != REFERENCE:  # it takes its time
        assert choices[0] == ({}, 0.0, 0)
        assert choices[1].seconds <= 0.2
    assert set(choices[1].params) == (set(job.space) if choices[1].looks else set())
    if name not in (SPOT, "grid of paths", "Optuna GP", "Optuna TPE"):  # what these need may have to be compiled or loaded first
        assert (choices[1].looks == 0) == (name == DEFAULTS)
    assert np.isfinite(job.error(choices[1].params, job.X, job.y))


def test_searches_end_soon_after_their_time():
    job = job_of()
    entrants.warm_up("svc_rbf", ENTRANTS[SPOT])
    began = time.process_time()
    ENTRANTS[SPOT](job, [0.3])
    assert time.process_time() - began < 1.5


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


def test_there_are_sets_of_twenty_families_for_each_kind_of_task():
    for sources in (CLASSES, TARGETS):
        chosen = one_a_family(sources)
        assert len(chosen) == len({source.family for source in sources.values()}) >= 20
    assert {"glass", "heart", "mfeat mor"} <= set(one_a_family(CLASSES))
    assert not {"glass2", "heart (IDA)", "mfeat zer"} & set(one_a_family(CLASSES))
    assert one_a_family(CLASSES)[:4] == ("iris", "wine", "breast cancer", "digits")


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
    assert rows.family == "sonar"
    assert read_rows("sonar", most=3000).X.shape == (n, 3)
    assert read_rows("sonar", most=200, drawn=150).X.shape == (150, 3)
    assert read_rows("tecator, fat").X.shape == (90, 1)
    assert read_rows("tecator, fat").y == pytest.approx(spectra["y"])
