"""Paths of C in a cross-validated search: rows, scores, records, and where there are none."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import ExactSVC, SpotSearchCV, StopRun, cross_val_scores
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.scoring import N_VALUES
from spotsvm.searches import RandomSearch
from spotsvm.trials.sweep import SPARED

X, Y = make_classification(70, 4, flip_y=0.2, random_state=0)
C, GAMMA = loguniform(2**-5, 2**15), loguniform(2**-10, 2**2)
SPACE = {"C": C, "gamma": GAMMA}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)


def search(estimator=None, space=SPACE, **options):
    given = {"n_iter": 6, "search": "random", "cv": FOLDS, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **given)


def facts(fitted):
    names = ("params", "sweep", "mean_test_score", "split0_test_score")
    return {name: np.asarray(fitted.cv_results_[name]).tolist() for name in names}, fitted.best_index_, fitted.best_params_


@pytest.mark.parametrize(
    ("estimator", "space", "options"),
    [
        (Ridge(), {"alpha": C}, {}),
        (SVC(), SPACE, {"sweep": None}),
        (SVC(), SPACE, {"engine": "sklearn"}),
        (SVC(), SPACE, {"search": RandomSearch}),
        (SVC(), {"C": C}, {}),
        (SVC(), {"C": [1.0, 2.0], "gamma": GAMMA}, {}),
        (SVC(), [{"C": C, "kernel": ["linear"]}, {"gamma": GAMMA}], {}),
        (SVC(), {"C": C, "gamma": GAMMA, "kernel": ["rbf", "sigmoid"]}, {}),
        (SVC(), SPACE, {"search": "nsga2", "scoring": ["accuracy", "f1"], "refit": "f1", "n_iter": 10}),
    ],
)
def test_there_is_no_path_where_work_is_not_shared_or_the_user_says_so(estimator, space, options):
    fitted = search(estimator, space, **options).fit(X, Y)
    assert "sweep" not in fitted.cv_results_
    assert len(fitted.cv_results_["params"]) == fitted.n_iter


@pytest.mark.parametrize(
    ("estimator", "C", "options"),
    [
        (SVC(), loguniform(1e-3, 1e3), {}),
        (SVC(C=10.0), (1e-4, 1e6, "log-uniform"), {"path": "s.db"}),
        (SVC(C=1), loguniform(2**-5, 2**15), {"search": "kriging"}),
        (make_pipeline(StandardScaler(), SVC(C=0.1)), loguniform(1e-3, 1e3), {"executor": "threading"}),
    ],
)
def test_the_first_trial_is_the_machine_as_it_was_given_and_no_value_comes_twice(estimator, C, options, tmp_path):
    options = {name: tmp_path / value if name == "path" else value for name, value in options.items()}
    prefix = "svc__" if hasattr(estimator, "steps") else ""
    name, gamma = f"{prefix}C", f"{prefix}gamma"
    fitted = search(estimator, {name: C, gamma: GAMMA}, n_iter=3, **options).fit(X, Y)
    rows, given = fitted.cv_results_["params"], estimator.get_params()[name]
    assert (rows[0][name], fitted.study_.trials[0].origin) == (given, "start")
    on_path = sorted(p[name] for p, of in zip(rows, fitted.cv_results_["sweep"], strict=True) if of == 0)
    assert np.diff(np.log(on_path)).min() > 0.1
    scores = [fitted.cv_results_[f"split{k}_test_score"][0] for k in range(4)]
    np.testing.assert_allclose(scores, cross_val_score(clone(estimator).set_params(**rows[0]), X, Y, cv=FOLDS), atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "space", "options", "said"),
    [
        (Ridge(), {"alpha": C, "tol": uniform(0, 1)}, {"sweep": "alpha"}, "sweep='alpha' needs work that candidates share"),
        (SVC(), SPACE, {"sweep": "C", "engine": "sklearn"}, "engine='sklearn' shares none"),
        (SVC(), SPACE, {"sweep": "epsilon"}, "sweep='epsilon' is not a parameter with a range; the space has C, gamma"),
        (SVC(), {"C": C}, {"sweep": "C"}, "sweep='C' leaves nothing to search"),
        (
            SVC(),
            {"C": C, "gamma": GAMMA, "kernel": ["rbf", "sigmoid"]},
            {"sweep": "C"},
            "'kernel': 'sigmoid'.* cannot be shared",
        ),
        (SVC(), SPACE, {"sweep": 3}, "sweep=3 is not a parameter; use its name, 'auto' or None"),
    ],
)
def test_what_cannot_be_is_said(estimator, space, options, said):
    with pytest.raises(ArgumentError, match=said):
        search(estimator, space, **options).fit(X, Y)


def test_other_parameters_may_be_profiled():
    y = X[:, 0] + 0.1 * X[:, 1]
    space = {"C": loguniform(0.1, 100), "gamma": GAMMA, "epsilon": loguniform(0.001, 1)}
    fitted = search(SVR(), space, sweep="epsilon", cv=3).fit(X, y)
    assert fitted.study_.about["sweep"] == "epsilon"
    rows = fitted.cv_results_["params"]
    grid = GridSearchCV(SVR(), [{name: [value] for name, value in p.items()} for p in rows], cv=3).fit(X, y)
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=2e-3)


@pytest.mark.parametrize("name", ["kriging", "random"])
def test_an_interrupted_search_goes_on_as_if_nothing_had_happened(tmp_path, name):
    def stop(study, trial):
        if study.n_finished == 5:
            raise StopRun

    whole = search(search=name, n_iter=9).fit(X, Y)
    part = search(search=name, n_iter=9, path=tmp_path / "s.db", callback=stop).fit(X, Y)
    assert part.study_.n_finished == 5
    assert facts(search(search=name, n_iter=9, path=tmp_path / "s.db").fit(X, Y)) == facts(whole)


def test_the_machine_s_own_parameters_are_the_first_candidate_unless_start_says_otherwise():
    fitted = search(make_pipeline(StandardScaler(), SVC()), {"svc__C": C, "svc__gamma": GAMMA}).fit(X, Y)
    own = {"svc__C": 1.0, "svc__gamma": 0.25}
    first = [t for t in fitted.study_.trials if t.sweep == 0]
    assert sum(dict(t.params) == pytest.approx(own) for t in first) == 1
    assert first[0].origin == "start"
    given = search(start={"C": 3.0, "gamma": 0.5}).fit(X, Y).study_.trials
    assert any(dict(t.params) == pytest.approx({"C": 3.0, "gamma": 0.5}) for t in given if t.sweep == 0)
    assert [t.origin for t in given].count("start") == 1
    assert {t.origin for t in search(start=[]).fit(X, Y).study_.trials} == {"random", "sweep"}
    degrees = search(SVC(kernel="poly"), {"C": loguniform(2, 10), "degree": randint(5, 15)}).fit(X, Y)
    first = degrees.study_.trials[0]
    assert (first.origin, first.params["degree"]) == ("start", 5)


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (SVC(), SPACE),
        (ExactSVC(), SPACE),
        (make_pipeline(StandardScaler(), SVC()), {"svc__C": C, "svc__gamma": GAMMA}),
        (SVC(), {"C": C, "gamma": GAMMA, "class_weight": [None, "balanced"]}),
    ],
)
def test_each_row_has_the_scores_of_scikit_learn(estimator, space):
    fitted = search(estimator, space).fit(X, Y)
    rows = fitted.cv_results_["params"]
    grid = GridSearchCV(estimator, [{name: [value] for name, value in p.items()} for p in rows], cv=FOLDS).fit(X, Y)
    for k in range(4):
        np.testing.assert_allclose(
            fitted.cv_results_[f"split{k}_test_score"], grid.cv_results_[f"split{k}_test_score"], atol=1e-12
        )
    suggestions = fitted.cv_results_["sweep"]
    assert len(set(suggestions)) == 6 == fitted.study_.n_finished
    name = next(n for n in space if n.endswith("C"))
    for number in set(suggestions):
        path = [p for p, of in zip(rows, suggestions, strict=True) if of == number]
        assert len({repr([item for item in p.items() if item[0] != name]) for p in path}) == 1
        values = sorted(p[name] for p in path)
        spared = sum(t.extra.get(SPARED, 0.0) for t in fitted.study_.trials if t.sweep == number)
        assert values[0] == pytest.approx(2**-5)
        assert values[-1] == pytest.approx(2**15) or spared
        assert (N_VALUES + 1) // 2 < len(values) + spared <= (N_VALUES + 1) // 2 + 3

    # those beside the best of a sweep were scored as well
    frame = fitted.study_.frame().sort_values(f"param_{name}")
    for _, path in frame.groupby("sweep"):
        at = int(np.argmax(path["value"].to_numpy()))
        steps = np.diff(np.log2(path[f"param_{name}"].to_numpy()))
        assert all(steps[k] <= 2.0 + 1e-9 for k in (at - 1, at) if 0 <= k < len(steps))


def test_values_of_C_above_one_that_is_clearly_behind_are_spared():
    noisy_X, noisy_Y = make_classification(150, 4, flip_y=0.4, random_state=1)
    fitted = search(n_iter=12).fit(noisy_X, noisy_Y)
    n_spared = 0
    for number in {t.sweep for t in fitted.study_.trials}:
        path = sorted((t for t in fitted.study_.trials if t.sweep == number), key=lambda t: t.params["C"])
        assert all(SPARED not in t.extra for t in path[:-1])
        if (spared := int(path[-1].extra.get(SPARED, 0))) == 0:
            continue
        n_spared += spared
        grid = 2.0 ** np.arange(-5, 16, 4)
        assert path[-1].params["C"] == pytest.approx(grid[-spared - 1])
        merits = [t.value for t in path if np.isclose(grid, t.params["C"]).any()]
        folds = np.array([[t.extra[f"split{k}_test_score"] for k in range(4)] for t in path])
        assert merits[-1] <= merits[-2]
        assert max(merits) - merits[-1] > folds[-1].std(ddof=1) / 2
        beyond = [{"C": cost, "gamma": path[0].params["gamma"]} for cost in grid[-spared:]]
        assert cross_val_scores(SVC(), noisy_X, noisy_Y, beyond, cv=FOLDS).mean(axis=1).max() < max(t.value for t in path)
    assert n_spared >= 5
    refined = search(space={"C": C, "kernel": ["rbf", "linear"]}, n_iter=40).fit(noisy_X, noisy_Y)
    assert all(SPARED not in t.extra for t in refined.study_.trials)  # its grid is what the budget is for
