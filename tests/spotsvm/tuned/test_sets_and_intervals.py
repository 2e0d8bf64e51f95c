"""Sets of classes and intervals of targets: what they hold, and how often."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from spotsvm import TunedSVC, TunedSVR
from spotsvm.errors import ArgumentError


def overlapping(n, seed, rare=0.15):
    """Two classes that overlap; the second is rare."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(int)
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y


X, Y = overlapping(150, 0)
X_NEW, Y_NEW = overlapping(3000, 1)
MODEL = TunedSVC(budget=2, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MODEL.fit(X, Y)


def held(sets, y):
    return sets[np.arange(len(y)), y]


def test_the_most_probable_class_is_in_each_set_unless_empty_sets_are_allowed(model):
    for coverage in (0.5, 0.8, 0.9):
        sets, as_level = (model.predict_set(X_NEW, coverage, allow_empty=allowed) for allowed in (False, True))
        assert held(sets, np.searchsorted(model.classes_, model.predict(X_NEW))).all()
        assert (sets | as_level == sets).all()
        added = sets & ~as_level
        assert (added.sum(axis=1) <= 1).all()
        assert not as_level[added.any(axis=1)].any()
        level = np.sort(1.0 - model.oof_predict_proba_[np.arange(150), Y])[int(np.ceil(coverage * 151)) - 1]
        assert (as_level == (1.0 - model.predict_proba(X_NEW) <= level)).all()
    assert (~model.predict_set(X_NEW, 0.5, allow_empty=True).any(axis=1)).mean() > 0.2
    for name in ("allow_empty", "by_class"):
        with pytest.raises(ArgumentError, match=f"{name}='yes'; use True or False"):
            model.predict_set(X_NEW, **{name: "yes"})


def test_the_coverage_holds_within_each_class_where_that_is_asked_for(model):
    """Over eight draws, as each has some twenty rows of the rare class."""
    alike, each = [], []
    for seed in range(8):
        rows, y = overlapping(150, seed)
        fitted = model if seed == 0 else MODEL.__sklearn_clone__().fit(rows, y)
        for found, by_class in ((alike, False), (each, True)):
            sets = fitted.predict_set(X_NEW, 0.8, by_class=by_class, allow_empty=True)
            found.append([held(sets, Y_NEW)[c == Y_NEW].mean() for c in (0, 1)])
    assert np.mean(each, axis=0) == pytest.approx([0.8, 0.8], abs=0.07)
    assert np.mean(alike, axis=0)[1] < 0.5


def test_a_class_of_few_rows_is_in_every_set():
    rare = np.where(np.flatnonzero(Y == 1)[8:, None] == np.arange(150), False, True).all(axis=0)
    fitted = TunedSVC(budget=1, random_state=0).fit(X[rare], np.array(["a", "b"])[Y[rare]])
    sets = fitted.predict_set(X_NEW, 0.95, by_class=True)
    assert sets[:, 1].all()
    assert not sets[:, 0].all()
    assert not fitted.predict_set(X_NEW, 0.95)[:, 1].all()


def test_intervals_of_a_share_stay_between_0_and_1():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2))
    share = 1.0 / (1.0 + np.exp(-3.0 * rows[:, 0] + rng.normal(size=100)))
    model = TunedSVR(budget=2, random_state=0).fit(rows, share)
    free, bounded = model.predict_interval(rows), model.predict_interval(rows, bounds=(0, 1))
    assert free.min() < 0 < 1 < free.max()
    assert (bounded == np.clip(free, 0.0, 1.0)).all()
    assert ((bounded[:, 0] <= share) & (share <= bounded[:, 1])).mean() == ((free[:, 0] <= share) & (share <= free[:, 1])).mean()
    assert model.predict_interval(rows, 0.999, bounds=(0, 1)).tolist() == [[0.0, 1.0]] * 100
    for bounds in ((0.2, 1), (1, 0), (0, 1, 2), None, (np.nan, 1), ("a", "b")):
        with pytest.raises(ArgumentError, match="use the least and the largest possible target, which include"):
            model.predict_interval(rows, bounds=bounds)


def test_an_accuracy_without_a_wrong_row_may_be_1():
    """Some settings are wrong on a few rows, and so are some draws of the choice."""
    rows, y = make_blobs(60, centers=2, cluster_std=1.0, random_state=3)
    model = TunedSVC(budget=3, random_state=0).fit(rows, y)
    expected = model.expected_score_
    assert (model.oof_predict_proba_.argmax(axis=1) == y).all()
    assert expected.on_all_rows == 1.0
    for one in (expected, expected.at(0.5), expected.at(0.999)):
        assert one.interval[1] == 1.0
        assert 0.8 < one.interval[0] < one.value
    assert expected.of_rows(20)[1] == 1.0


def test_rows_that_are_too_few_for_r2_are_told_by_a_code(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 1))
    # most rows are alike, so that many draws leave out rows without spread
    y = np.where(np.arange(40) < 6, 5.0 + np.arange(40), 1e-6 * rows[:, 0])
    few = TunedSVR(budget=1, random_state=0).fit(rows, y)
    assert few.expected_score_.too_few
    assert np.isnan([few.expected_score_.value, *few.expected_score_.interval]).all()
    assert str(few.expected_score_) == "unknown: 40 rows are too few for R2"
    assert few.verdict_.too_few
    assert few.verdict_.decision == "no difference seen"
    assert str(few.verdict_).endswith("default model: 40 training rows out of fold are too few for R2.")
    assert "The R2 to expect on new rows is unknown: 40 rows are too few for R2" in few.methods_section().markdown()
    page = few.report(tmp_path / "page.html").read_text()
    assert "The R2 to expect is unknown: 40 rows are too few for R2." in page
    assert "rows too few" in page
    enough = TunedSVR(budget=1, random_state=0).fit(rows, rows[:, 0])
    assert not enough.expected_score_.too_few
    errors = TunedSVR(budget=1, scoring="neg_mean_absolute_error", random_state=0).fit(rows, y)
    assert not errors.expected_score_.too_few
