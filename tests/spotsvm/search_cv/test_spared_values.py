"""Values of C that are spared."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ExactSVC, SpotSearchCV, cross_val_scores
from spotsvm.search_cv.scoring import N_VALUES
from spotsvm.trials.sweep import SPARED

X, Y = make_classification(70, 4, flip_y=0.2, random_state=0)
C, GAMMA = loguniform(2**-5, 2**15), loguniform(2**-10, 2**2)
SPACE = {"C": C, "gamma": GAMMA}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)


def search(estimator=None, space=SPACE, **options):
    given = {"n_iter": 6, "search": "random", "cv": FOLDS, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **given)


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
