import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.errors import ArgumentError, DataError, NoCompletedTrialError
from spotsvm.luck.intervals import jackknife_variance, nadeau_bengio, t_interval
from spotsvm.luck.refits.nested import BestSoFar, OuterFold, OuterSplits, outer_splits, sum_up

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


X, Y = make_classification(120, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-10, 2**2)}
INNER = StratifiedKFold(3, shuffle=True, random_state=1)


def searched(**options):
    return SpotSearchCV(SVC(), SPACE, **(PLAIN | {"n_iter": 8, "search": "random", "cv": INNER} | options))


@pytest.fixture(scope="module")
def found():
    return oversearching(searched(), X, Y, random_state=0)


def test_it_is_scikit_learns_nested_cross_validation():
    grid = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, cv=INNER)
    outer = StratifiedKFold(4, shuffle=True, random_state=5)
    result = cross_validate(grid, X, Y, cv=outer, return_estimator=True)
    found = oversearching(grid, X, Y, outer)
    frame = found.frame()
    assert frame["outer"].to_numpy() == pytest.approx(result["test_score"])
    assert frame["tuned"].to_numpy() == pytest.approx([search.best_score_ for search in result["estimator"]])
    assert frame["param_C"].tolist() == [search.best_params_["C"] for search in result["estimator"]]
    assert found.optimism == pytest.approx(frame["tuned"].mean() - frame["outer"].mean())
    assert found.n_trials == 9
    assert (found.how, found.metric) == ("nested", "accuracy")


@pytest.mark.parametrize("options", [{"refit": "average"}, {"calibrate": True}])
def test_the_winner_is_judged_where_the_result_is_an_average(options, found):
    weights = np.ones(len(X))
    combined = oversearching(searched(**options), X, Y, random_state=0, fit_params={"sample_weight": weights})
    assert combined.frame()["tuned"].tolist() == found.frame()["tuned"].tolist()
    assert combined.frame()["outer"].tolist() == found.frame()["outer"].tolist()


@pytest.mark.parametrize("method", ["nested", "folds"])
def test_perfect_scores_have_no_interval(method):
    apart = np.vstack([X - 99.0, X + 99.0])
    search = searched(n_iter=3, random_state=0).fit(apart, np.repeat([0, 1], len(X)))
    found = oversearching(search, apart, np.repeat([0, 1], len(X)), method=method)
    assert (found.optimism, found.expected_score.value) == (0.0, 1.0)
    assert np.isnan([*found.interval, *found.expected_score.interval]).all()
    assert found.curve()[["low", "high"]].tail(1).isna().all(axis=None)
    assert "interval 0" not in found.summary()


def test_the_curve_ends_at_the_result_and_starts_at_the_first_trial(found):
    curve = found.curve()
    assert curve["n_trials"].iloc[[0, -1]].tolist() == [1, 8]
    assert curve["tuned"].is_monotonic_increasing
    last = curve.iloc[-1]
    assert (last.tuned, last.outer, last.optimism) == pytest.approx(
        (found.tuned_score, found.expected_score.value, found.optimism)
    )
    assert (last.low, last.high) == pytest.approx(found.interval)
    one = oversearching(searched(n_iter=1), X, Y, random_state=0)
    assert curve["optimism"].iloc[0] == pytest.approx(one.optimism)
    assert not oversearching(searched(n_iter=1), X, Y, random_state=0, curve=False).points


class Counted(ClassifierMixin, BaseEstimator):
    fits = 0

    def __init__(self, depth=0):
        self.depth = depth

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.depth, self.classes_[1], self.classes_[0])


def test_it_costs_a_handful_of_fits_beside_the_searches():
    grid = GridSearchCV(Counted(), {"depth": [5.0, 4.0, 0.0, 3.0, 0.0]}, cv=INNER)
    searches = 4 * (5 * 3 + 1)
    Counted.fits = 0
    oversearching(grid, X, Y, 4, random_state=0)
    # of each outer fold: three fits to score the winner without some rows, and one for each incumbent but the winner
    assert searches + 4 * (3 + 1) <= Counted.fits <= searches + 4 * (3 + 2)
    Counted.fits = 0
    oversearching(grid, X, Y, 4, random_state=0, curve=False, variance="nadeau-bengio")
    assert Counted.fits == searches


def test_the_same_whatever_n_jobs_is(found):
    assert oversearching(searched(random_state=0), X, Y) == found
    assert oversearching(searched(), X, Y, random_state=1) != found
    assert oversearching(searched(), X, Y, StratifiedKFold(5, shuffle=True, random_state=0), random_state=0) == found
    inner = StratifiedKFold(3, shuffle=True)  # without a seed of its own
    runs = [oversearching(searched(cv=inner, n_iter=2), X, Y, 3, random_state=0, n_jobs=n) for n in (1, 2)]
    assert runs[0] == runs[1]
    assert inner.random_state is None


def test_on_labels_without_meaning_the_tuned_score_flatters():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 30)
    found = [oversearching(searched(random_state=k), rng.normal(size=(60, 3)), labels, 4, curve=False) for k in range(8)]
    # what is to be expected of labels without meaning is 0.5, with a standard error of 0.065 / sqrt(8) or a little more
    assert np.mean([f.expected_score.value for f in found]) == pytest.approx(0.5, abs=0.1)
    assert np.mean([f.optimism for f in found]) > 0.03


def test_what_chooses_the_winner_is_named():
    two = oversearching(searched(scoring={"a": "accuracy", "b": "roc_auc"}, refit="b", n_iter=3), X, Y, 3, random_state=0)
    assert two.metric == "roc_auc"
    assert two.expected_score.interval[1] <= 1.0
    own = oversearching(searched(n_iter=2, scoring=make_scorer(mean_squared_error, greater_is_better=False)), X, Y, 3)
    assert own.tuned_score < 0
    assert own.metric == "neg_mean_squared_error"
    chosen = oversearching(searched(refit=lambda results: int(np.argmax(results["mean_test_score"]))), X, Y, 3, random_state=0)
    assert chosen == oversearching(searched(), X, Y, 3, random_state=0)


@pytest.mark.parametrize("options", [{}, {"refit": "average"}, {"engine": "sklearn"}])
def test_a_kernel_matrix_is_cut_by_rows_and_columns(options):
    plain = searched(n_iter=3, random_state=0, **options).set_params(estimator=SVC(kernel="linear"), space={"C": SPACE["C"]})
    matrix = clone(plain).set_params(estimator=SVC(kernel="precomputed"))
    found, expected = (oversearching(search, rows, Y, 3, random_state=0) for search, rows in ((matrix, X @ X.T), (plain, X)))
    assert (found.optimism, found.error) == pytest.approx((expected.optimism, expected.error))


def test_parameters_may_be_arrays():
    priors = [np.array([0.5, 0.5]), np.array([0.9, 0.1]), np.array([0.1, 0.9])]
    found = oversearching(GridSearchCV(GaussianNB(), {"priors": priors}, cv=3), X, Y, 3, random_state=0)
    assert all(list(row["params"]["priors"]) in [one.tolist() for one in priors] for row in found.rows)
    assert found.curve()["outer"].iloc[-1] == pytest.approx(found.expected_score.value)


def test_an_error_in_a_search_says_in_which_fold():
    failing = GridSearchCV(SVC(), {"C": [-1.0]}, error_score="raise", cv=3)
    with pytest.raises(ValueError, match="'C' parameter of SVC") as caught:
        oversearching(failing, X, Y, 3)
    assert caught.value.__notes__ == ["This error occurred in the search of outer fold 0."]


def test_repeated_folds_are_told_apart():
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    found = oversearching(searched(n_iter=3), X, Y, folds, random_state=0)
    frame = found.frame()
    assert len(frame) == 12
    assert found.variance == "jackknife"
    # four folds a repeat leave three degrees of freedom, and the variance is at least that of the repeats' means
    half = (found.interval[1] - found.interval[0]) / 2
    means = frame["optimism"].to_numpy().reshape(3, 4).mean(axis=1)
    assert half >= student.ppf(0.975, 3) * np.sqrt(means.var(ddof=1) / 3)


def test_groups_stay_together():
    groups = np.arange(120) // 6
    search = searched(n_iter=2, cv=GroupKFold(3))
    found = oversearching(search, X, Y, GroupKFold(4), groups=groups, random_state=0)
    assert found.frame()["n_test"].tolist() == [30] * 4
    assert oversearching(search, X, Y, 4, groups=groups, random_state=0).variance == "jackknife"


def test_weights_of_rows_are_cut_to_the_folds():
    weights = np.where(Y == 1, 3.0, 1.0)
    ridge = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=KFold(3))
    found = oversearching(ridge, X, X[:, 0] + Y, KFold(3), fit_params={"sample_weight": weights})
    target = X[:, 0] + Y
    for row, (train, test) in zip(found.rows, KFold(3).split(X), strict=True):
        machine = Ridge(alpha=1.0).fit(X[train], target[train], sample_weight=weights[train])
        assert row["outer"] == pytest.approx(machine.score(X[test], target[test]))


def test_frames_and_other_searches():
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = RandomizedSearchCV(SVC(), SPACE, n_iter=3, cv=3, random_state=0)
    found = oversearching(search, frame, pd.Series(Y), 3)
    assert found == oversearching(search, X, Y, 3)
    assert not hasattr(search, "cv_results_")


def test_the_records_are_gone_on_with(tmp_path, found):
    first = oversearching(searched(), X, Y, random_state=0, path=tmp_path / "runs")
    assert first == found
    files = sorted(tmp_path.glob("runs/*.db"))
    assert [f.name for f in files] == [f"outer_{k:03d}.db" for k in range(5)]
    files[2].unlink()
    calls = []
    again = oversearching(
        searched(callback=lambda study, trial: calls.append(trial)), X, Y, random_state=0, path=tmp_path / "runs"
    )
    assert again == found
    assert len(calls) == 8


BY_CLASS = np.sort(Y)
ORDERED = np.r_[np.tile([0, 1], 40), np.zeros(40, dtype=int)]


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {"outer": 1}, "outer=1 is not a number of folds; use 2 or more"),
        ({}, {"outer": 121}, "outer=121 folds cannot be made from 120 rows"),
        ({}, {"outer": PredefinedSplit(np.repeat([-1, 0], 60))}, "makes 1 fold; two or more are needed"),
        ({}, {"method": "bootstrap"}, "method='bootstrap' is unknown; use one of nested, folds"),
        ({}, {"variance": "naive"}, "variance='naive' is unknown; use one of auto, jackknife, nadeau"),
        ({}, {"confidence": 95}, "confidence=95 is not between 0 and 1"),
        ({}, {"path": "x"}, "random_state=None with a path"),
        ({}, {"X": None}, "X=None: pass the data"),
        ({}, {"X": None, "method": "folds"}, "X=None: pass the data"),
        ({}, {"search": SVC()}, "is not a search; use SpotSearchCV"),
        ({"refit": False}, {}, "search has refit=False"),
        ({"scoring": ["accuracy", "roc_auc"], "refit": lambda results: 0}, {}, "let refit name one of them"),
        ({"cv": list(KFold(3).split(X))}, {}, "splits of all rows; use a number of folds or a splitter"),
        ({}, {"y": np.where(np.arange(120) < 3, "rare", "common")}, "class rare has 3 rows, fewer than"),
        ({}, {"y": BY_CLASS, "outer": TimeSeriesSplit(3)}, "outer fold 0 has no training row of class 1"),
        ({}, {"y": BY_CLASS, "outer": LeaveOneGroupOut(), "groups": BY_CLASS}, "fold 0 has no training row of class 0"),
        ({"scoring": "roc_auc"}, {"y": ORDERED, "outer": KFold(3)}, "fold 2: a candidate cannot be scored on its 40 rows"),
    ],
)
def test_what_cannot_be_analysed(options, arguments, message):
    given = {"search": searched(n_iter=2, **{"cv": 3} | options), "X": X, "y": Y} | arguments
    with pytest.raises(DataError if "y" in arguments else ArgumentError, match=message):
        oversearching(**given)


class Inspected(GridSearchCV):
    """A search with an error of its own, in scikit-learn's words for another one."""

    def fit(self, X, y=None, **params):
        raise ValueError("All the 5 fits failed the inspection")


def test_an_error_in_the_words_of_another_stays():
    with pytest.raises(ValueError, match="the inspection") as caught:
        oversearching(Inspected(SVC(), {"C": [1.0]}), X, Y)
    assert caught.type is ValueError


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("search", [SpotSearchCV(SVC(C=-1), {"gamma": [1, 2]}, n_iter=2, search="random", cv=3), None])
def test_no_completed_trial(search):
    search = search or GridSearchCV(SVC(), {"C": [-1.0, -2.0]}, cv=3)
    with pytest.raises(NoCompletedTrialError, match="outer fold 0: "):
        oversearching(search, X, Y, random_state=0)


def test_a_record_needs_a_search_that_keeps_one(tmp_path):
    grid = GridSearchCV(SVC(), {"C": [1.0]}, cv=3)
    with pytest.raises(ArgumentError, match="needs a search that keeps a record"):
        oversearching(grid, X, Y, random_state=0, path=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ArgumentError, match="is a file; use a folder"):
        oversearching(searched(), X, Y, random_state=0, path=tmp_path / "file")


def test_the_interval_is_the_jackknifes(found):
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))
    without = np.empty((5, 5))
    for k, row in enumerate(found.rows):
        train = splits[k][0]
        for b in range(5):
            scores = []
            for fit, test in INNER.split(X[train], Y[train]):
                kept = test if b == k else test[~np.isin(train[test], splits[b][1])]
                machine = SVC(**row["params"]).fit(X[train][fit], Y[train][fit])
                scores.append(machine.score(X[train][kept], Y[train][kept]))
            without[k, b] = np.mean(scores)
    frame = found.frame()
    assert np.diag(without) == pytest.approx(frame["tuned"].to_numpy())
    variance = jackknife_variance(without, frame["outer"])
    assert found.variance == "jackknife"
    assert found.interval == pytest.approx(t_interval(found.optimism, variance, 4, 0.95))
    assert found.expected_score.interval == pytest.approx(nadeau_bengio(frame["outer"], 0.25))


def test_nadeau_and_bengio_by_name(found):
    plain = oversearching(searched(), X, Y, random_state=0, variance="nadeau-bengio", confidence=0.8)
    assert plain.variance == "nadeau-bengio"
    assert plain.interval == pytest.approx(nadeau_bengio(found.frame()["optimism"], 0.25, 0.8))
    assert plain.rows == found.rows
    assert not plain.notes


@pytest.mark.parametrize("outer", [TimeSeriesSplit(3), ShuffleSplit(3, random_state=0), 2])
def test_where_folds_are_not_all_rows_the_interval_is_nadeau_and_bengios(outer):
    found = oversearching(searched(n_iter=2), X, Y, outer, random_state=0)
    assert found.variance == "nadeau-bengio"
    assert "rather wide" in found.summary()
    sizes = found.frame()
    ratio = (sizes["n_test"] / sizes["n_train"]).mean()
    # no two accuracies differ by more than 1
    assert found.interval == pytest.approx(np.clip(nadeau_bengio(sizes["optimism"], ratio), -1.0, 1.0))


def test_under_noise_the_recommended_trial_counts():
    incumbents = (BestSoFar(1, 0.7, 0.7), BestSoFar(4, 0.9, 0.6))
    folds = [
        OuterFold(k, 30, 15, 0.8, 0.7 + 0.01 * k, {}, 3, 5, incumbents, np.full(3, 0.8), "accuracy") for k in range(3)
    ]  # fmt: skip
    splits = list(KFold(3).split(X[:45]))
    found = sum_up(folds, OuterSplits(splits, [[0, 1, 2]]), 0.95, "auto")
    assert (found.tuned_score, found.optimism) == pytest.approx((0.8, 0.09))
    assert found.curve()["tuned"].tolist() == pytest.approx([0.7, 0.9, 0.9])
    assert "the search recommends a trial by its model of the noise" in found.summary()


def test_folds_of_a_regression_are_not_stratified():
    assert outer_splits(4, X, X[:, 0], None, classifier=False, seed=0).repeats == [[0, 1, 2, 3]]
