"""Further random partitions: who is scored on them, what they decide, and where there are none."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, oversearching
from spotsvm.common.errors import ArgumentError
from spotsvm.cross_validation.partitions import further_partitions
from spotsvm.search_cv.confirm import (
    GIVEN,
    MEAN,
    N_COSTLY,
    N_PARTITIONS,
    PREDICTED,
    Confirmation,
    contenders,
    predicted_contender,
    seconds_a_partition,
)
from spotsvm.study.recorded import RecordedStudy
from spotsvm.surrogates.domain import Coordinate, Domain
from spotsvm.trials.scores.intervals import nadeau_bengio
from spotsvm.trials.scores.metrics import ScoreUnit
from spotsvm.trials.trial import Trial

X, Y = make_classification(80, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**2)}


def search(estimator=None, space=SPACE, **options):
    given = {"n_iter": 6, "search": "random", "cv": 4, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **given)


def partitions_of(fitted, n):
    """Return the further partitions of a fitted search, those that choose and then those that do not."""
    options = {"classifier": True, "n_partitions": 2 * n, "seed": [fitted.study_.seed, 2], "instead": ""}
    return further_partitions(fitted.cv, X, Y, None, **options)


@pytest.mark.parametrize("options", [{}, {"profile": None}, {"criterion": "score"}, {"confirm": 2, "search": "kriging"}])
@pytest.mark.parametrize("cv", [4, StratifiedKFold(4, shuffle=True, random_state=3), ShuffleSplit(3, random_state=0)])
def test_scores_on_further_partitions_are_those_of_scikit_learn_and_the_best_mean_is_chosen(options, cv):
    fitted = search(cv=cv, **options).fit(X, Y)
    n = options.get("confirm", N_PARTITIONS)
    partitions = partitions_of(fitted, n)
    finding = Confirmation.from_dict(fitted.study_.findings["confirm"])
    rows = {t.number: k for k, t in enumerate(fitted.study_.trials)}
    for number in finding.numbers:
        machine = SVC(**fitted.cv_results_["params"][rows[number]])
        means = [cross_val_score(machine, X, Y, cv=splits).mean() for splits in partitions[:n]]
        columns = [fitted.cv_results_[f"partition{k + 1}_score"][rows[number]] for k in range(n)]
        assert columns == pytest.approx(means)
    others = np.delete(fitted.cv_results_["partition1_score"], [rows[number] for number in finding.numbers])
    assert np.isnan(others).all()
    assert f"partition{n + 1}_score" not in fitted.cv_results_
    fresh = [cross_val_score(SVC(**fitted.best_params_), X, Y, cv=splits).mean() for splits in partitions[n:]]
    assert fitted.fresh_score_ == pytest.approx(np.mean(fresh))
    assert fitted.best_score_ == fitted.cv_results_["mean_test_score"][fitted.best_index_]
    assert finding.merits[finding.numbers.index(finding.chosen)] == finding.merits.max()
    assert finding.scores.shape == (len(finding.numbers), n)
    if options.get("criterion") == "score":
        given = fitted.cv_results_["mean_test_score"][[rows[number] for number in finding.numbers]]
        np.testing.assert_allclose(finding.merits, (given + finding.scores.sum(axis=1)) / (1 + n))
    found = fitted.study_.recommend()
    assert (found.basis, dict(found.params), found.value) == ("confirmed", fitted.best_params_, fitted.fresh_score_)


@pytest.mark.parametrize(
    ("estimator", "space", "options"),
    [
        (SVC(), SPACE, {"confirm": None}),
        (SVC(), SPACE, {"cv": TimeSeriesSplit(3)}),
        (SVC(), SPACE, {"cv": list(KFold(3).split(X))}),
        (SVC(), SPACE, {"cv": GroupKFold(3)}),
        (SVC(), SPACE, {"noise": True}),
        (SVC(), SPACE, {"engine": "sklearn"}),
        (SVC(), SPACE, {"refit": lambda results: 0}),
        (Ridge(), {"alpha": loguniform(0.1, 10)}, {}),
    ],
)
def test_there_are_none_by_default_where_they_cannot_be_drawn_or_cost_much(estimator, space, options):
    fitted = search(estimator, space, **options).fit(
        X, Y, groups=np.arange(80) // 2 if isinstance(options.get("cv"), GroupKFold) else None
    )
    assert not hasattr(fitted, "fresh_score_")
    assert "confirm" not in fitted.study_.findings


def test_there_are_fewer_where_they_cost_more():
    machine = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    of_machine = {f"svc__{name}": entry for name, entry in SPACE.items()}
    for space, count in ((of_machine, N_PARTITIONS), (of_machine | {"scale__with_mean": [True, False]}, N_COSTLY)):
        finding = search(machine, space).fit(X, Y).study_.findings["confirm"]
        assert Confirmation.from_dict(finding).scores.shape[1] == len(finding["fresh"]) == count
    regression = search(SVR()).fit(X, X[:, 0])
    assert len(regression.study_.findings["confirm"]["fresh"]) == N_COSTLY


def test_a_number_asks_for_them_anywhere_and_is_refused_where_they_cannot_be():
    ridge = search(Ridge(), {"alpha": loguniform(0.1, 10)}, confirm=2).fit(X, Y)
    assert len(ridge.study_.findings["confirm"]["contenders"]) == 5
    assert ridge.fresh_score_ == pytest.approx(np.mean(ridge.study_.findings["confirm"]["fresh"]))
    with pytest.raises(ArgumentError, match="whose splits are not random, so that new ones cannot be drawn; use confirm=None"):
        search(confirm=2, cv=TimeSeriesSplit(3)).fit(X, Y)
    for wrong in (0, -1, 1.5, True, "all"):
        with pytest.raises(
            ArgumentError, match=f"confirm={wrong!r} is not a number of partitions; use 1 or more, 'auto' or None"
        ):
            search(confirm=wrong).fit(X, Y)
    repeated = search(cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, Y)
    assert Confirmation.from_dict(repeated.study_.findings["confirm"]).scores.shape[1] == N_PARTITIONS


def test_the_defaults_are_among_the_contenders_and_win_ties():
    fitted = search().fit(X, Y)
    first = fitted.study_.trials[fitted.study_.findings["confirm"]["contenders"][0]["trial"]]
    assert first.params["C"] == pytest.approx(1.0)
    assert first.suggestion == 0
    equal = search(SVC(), {"C": loguniform(1e-6, 1e-5), "gamma": loguniform(1e-3, 1e3)}, criterion="score", cv=3)
    equal.fit(X, np.arange(80) < 60)  # every candidate tells the larger class
    chosen = equal.best_params_
    assert chosen["C"] == pytest.approx(1e-5)
    assert chosen["gamma"] == pytest.approx(1 / (X.shape[1] * X.var()))


def test_contenders_are_the_best_values_of_the_best_paths_with_their_neighbours():
    trials = [
        Trial(10 * s + k, {"C": float(k), "gamma": float(s)}, (k / 5, s / 9), "ok", merit, suggestion=10 * s)
        for s, path in enumerate([[1, 2, 3, 2, 1], [9, 1, 1, 1, 1], [0, 0, 0, 0, 8], [5, 5, 7, 6, 5]])
        for k, merit in enumerate(path)
    ]
    trials.append(Trial(77, {"C": 1.0, "gamma": 9.0}, (0.2, 1.0), "failed", suggestion=77))
    found = contenders(trials, lambda t: np.nan if t.value is None else t.value, "C", trials[:1])
    assert [t.number for t in found] == [0, 10, 11, 23, 24, 31, 32, 33]
    found = contenders(trials, lambda t: np.nan if t.value is None else t.value, None)
    assert [t.number for t in found] == [10, 24, 32, 33, 30]
    found = contenders(trials, lambda t: np.nan if t.value is None else t.value, "C", ordered=False)
    assert [t.number for t in found] == [10, 11, 12, 24, 20, 21, 32, 33, 30]


def test_a_resumed_search_does_not_score_them_again(tmp_path, monkeypatch):
    first = search(path=tmp_path / "s.db").fit(X, Y)
    monkeypatch.setattr("spotsvm.search_cv.run.confirm", None)
    again = search(path=tmp_path / "s.db").fit(X, Y)
    assert (again.fresh_score_, again.best_params_) == (first.fresh_score_, first.best_params_)
    np.testing.assert_array_equal(again.cv_results_["partition1_score"], first.cv_results_["partition1_score"])
    monkeypatch.undo()
    more = search(path=tmp_path / "s.db", n_iter=9).fit(X, Y)
    assert more.fresh_score_ == search(n_iter=9).fit(X, Y).fresh_score_


def test_workers_give_the_same_choice():
    alone = search(batch_size=2).fit(X, Y)
    for options in ({"n_jobs": 2}, {"executor": "threading", "n_jobs": 2}):
        again = search(batch_size=2, **options).fit(X, Y)
        assert (again.fresh_score_, again.best_params_) == (alone.fresh_score_, alone.best_params_)


def test_a_confirmation_can_be_stored():
    scores, intervals = np.array([[0.5, np.nan], [0.75, 0.5]]), np.array([[np.nan, np.nan], [0.5, 0.7]])
    fresh = np.array([[0.4, 0.6], [0.6, 0.8]])
    found = Confirmation((3, 5), scores, intervals, np.array([np.nan, 0.6]), {GIVEN: 3, MEAN: 5}, fresh, 1.0)
    again = Confirmation.from_dict(found.to_dict(ScoreUnit("accuracy")))
    assert (again.fresh_score, again.chosen, again.ratio) == (pytest.approx(0.6), 5, 1.0)
    np.testing.assert_array_equal(again.intervals, intervals)
    assert {name: column.tolist()[1] for name, column in again.columns("score", [3, 4, 5]).items()} == {
        "partition1_score": pytest.approx(np.nan, nan_ok=True),
        "partition2_score": pytest.approx(np.nan, nan_ok=True),
    }
    assert again.columns("score", [3, 4, 5])["partition1_score"][2] == 0.75


def test_each_rule_is_reported_with_an_interval():
    fitted = search(search="kriging", n_iter=8).fit(X, Y)
    found = fitted.study_.findings["confirm"]
    partitions = partitions_of(fitted, N_PARTITIONS)[:N_PARTITIONS]
    assert [row["rule"] for row in found["rules"]] == [GIVEN, MEAN, PREDICTED]
    contending = [fitted.study_.trials[row["trial"]] for row in found["contenders"]]
    by_criterion = max(contending, key=lambda t: (t.extra["criterion"], -contending.index(t)))
    assert found["rules"][0]["trial"] == by_criterion.number
    assert found["rules"][1]["trial"] == found["chosen"]
    for row in found["rules"]:
        machine = SVC(**fitted.study_.trials[row["trial"]].params)
        scores = np.concatenate([cross_val_score(machine, X, Y, cv=splits) for splits in partitions])
        assert row["mean of further partitions"] == pytest.approx(scores.mean())
        assert (row["low"], row["high"]) == pytest.approx(nadeau_bengio(scores, 1 / 3))


def test_a_model_with_a_nugget_prefers_the_contender_whose_neighbours_are_good():
    rng = np.random.default_rng(0)
    points = [((k + 0.5) / 20,) for k in range(20)]
    values = [-((x - 0.3) ** 2) * 8 + 0.1 * rng.standard_normal() for (x,) in points]
    values[17] = 0.3  # a lucky look, far from the best region
    trials = [Trial(k, {"x": x[0]}, x, "ok", value) for k, (x, value) in enumerate(zip(points, values, strict=True))]
    domain, contending = Domain((Coordinate(),)), [trials[17], trials[6]]

    def merit(t):
        return t.value

    assert predicted_contender(domain, trials, merit, contending, np.array([-2.0, 0.0]), 0) == 1
    assert predicted_contender(domain, trials, merit, contending, np.array([np.nan, np.nan]), 0) is None
    assert predicted_contender(domain, trials[:1] * 2, merit, trials[:1], np.array([0.1]), 0) is None


def test_oversearching_uses_the_partitions_that_chose_nothing():
    fitted = search().fit(X, Y)
    found = oversearching(fitted, method="partitions")
    partitions = partitions_of(fitted, N_PARTITIONS)[N_PARTITIONS:]
    scores = np.concatenate([cross_val_score(SVC(**fitted.best_params_), X, Y, cv=splits) for splits in partitions])
    assert found.outer_score == pytest.approx(fitted.fresh_score_)
    assert found.optimism == pytest.approx(fitted.best_score_ - scores.mean())
    assert found.interval == pytest.approx(nadeau_bengio(fitted.best_score_ - scores, 1 / 3))
    assert found.outer_interval == pytest.approx(nadeau_bengio(scores, 1 / 3))
    assert (found.n_trials, found.metric, len(found.frame())) == (len(fitted.study_.trials), "accuracy", N_PARTITIONS)
    assert "on 5 random partitions that had no part in its choice" in found.summary()
    with pytest.raises(ArgumentError, match="method='partitions' needs a SpotSearchCV that has chosen by further partitions"):
        oversearching(search(confirm=None).fit(X, Y), method="partitions")


@pytest.fixture(scope="module")
def noises():
    """Return sets whose labels have no pattern, each with its seed and with the score of a search without partitions."""
    rng = np.random.default_rng(0)
    sets = [(seed, rng.normal(size=(60, 3)), np.arange(60) % 2) for seed in range(12)]
    options = {"cv": 5, "criterion": "score", "confirm": None, "n_iter": 10}
    return [(seed, X, y, search(random_state=seed, **options).fit(X, y).best_score_) for seed, X, y in sets]


@pytest.mark.parametrize("criterion", ["auto", "score"])
def test_on_labels_without_any_pattern_the_fresh_score_is_not_flattered(criterion, noises):
    """Of pure noise the truth is one half: the tuned score is above it, that of partitions without part in the choice is not."""
    tuned, fresh = [], []
    for seed, rows, labels, score in noises:
        fitted = search(cv=5, random_state=seed, criterion=criterion, n_iter=10).fit(rows, labels)
        tuned.append(score)
        fresh.append(fitted.fresh_score_)
    error = np.std(fresh, ddof=1) / np.sqrt(len(fresh))
    assert np.mean(tuned) > 0.55
    assert np.mean(fresh) < np.mean(tuned) - 0.03
    assert abs(np.mean(fresh) - 0.5) < 4 * error + 0.03


def test_nested_resampling_repeats_the_choice_by_further_partitions_as_well(tmp_path):
    oversearching(search(n_iter=3), X, Y, 3, method="nested", random_state=0, path=tmp_path / "outer")
    records = sorted((tmp_path / "outer").glob("*.db"))
    assert len(records) == 3
    assert all("confirm" in RecordedStudy(path).findings for path in records)


def test_a_finding_of_an_earlier_version_is_not_taken_for_a_whole_one():
    fitted = search().fit(X, Y)
    found = fitted.study_.findings["confirm"]
    contending = [fitted.study_.trials[row["trial"]] for row in found["contenders"]]
    assert Confirmation.is_of(found, contending)
    assert not Confirmation.is_of(found, contending[1:])
    assert not Confirmation.is_of({key: found[key] for key in ("sentence", "chosen", "fresh", "contenders")}, contending)
    assert Confirmation.is_of(found, contending, N_PARTITIONS)
    assert not Confirmation.is_of(found, contending, N_PARTITIONS + 1)


def test_what_holds_no_more_is_forgotten(tmp_path):
    path = tmp_path / "search.db"
    fitted = search(path=path).fit(X, Y)
    assert fitted.study_.recommend().basis == "confirmed"
    fitted.set_params(confirm=None).fit(X, Y)
    assert not hasattr(fitted, "fresh_score_")
    found = fitted.study_.recommend()
    assert (found.basis, dict(found.params)) == ("criterion", fitted.best_params_)
    again = search(path=path, confirm=2).fit(X, Y)
    assert len(again.study_.findings["confirm"]["fresh"]) == 2


def test_a_record_of_a_regression_goes_on_in_a_wider_space(tmp_path):
    path, y = tmp_path / "search.db", X[:, 0]
    narrow = {"C": loguniform(2**-5, 2**5), "gamma": loguniform(2**-15, 2**3), "epsilon": loguniform(0.01, 0.1)}
    first = search(SVR(), narrow, path=path, n_iter=4).fit(X, y)
    wide = narrow | {"epsilon": loguniform(0.001, 1.0)}
    second = search(SVR(), wide, path=path, n_iter=8).fit(X, y)
    before, after = ([dict(t.params) for t in one.study_.trials] for one in (first, second))
    assert len(after) > len(before)
    assert [one["epsilon"] for one in after[: len(before)]] == pytest.approx([one["epsilon"] for one in before])


def test_a_partition_is_expected_to_prepare_its_folds_again():
    def trials(first, *others):
        return [Trial(k, {}, (), "ok", 0.5, seconds=seconds) for k, seconds in enumerate((first, *others))]

    assert seconds_a_partition(trials(1.0, *[1.0] * 9), False) == pytest.approx(6.0)  # five contenders, and the best once more
    assert seconds_a_partition(trials(9.0, *[1.0] * 9), False) == pytest.approx(6.0 + 2 * 8.0)
    path = [Trial(k, {}, (), "ok", 0.5, seconds=8.0 if k % 8 == 0 else None) for k in range(32)]
    assert seconds_a_partition(path, True) == pytest.approx(10.0)  # nine of them, and the best once more
    assert seconds_a_partition(path[:8], True) == pytest.approx(9.0)
    assert seconds_a_partition([], True) == 0.0
