from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from spotsvm import ExpectedScore, Space, Trial
from spotsvm.luck.difference import TuningGain
from spotsvm.luck.verdict import Replaced
from spotsvm.tables import make_table
from spotsvm.tuning.job import Job
from spotsvm.tuning.svm_search import SVMSearch
from spotsvm.tuning.verdict import Choice, choose, decide

SPACE = Space({"C": (1.0, 100.0), "gamma": (0.0, 1.0)})
DEFAULT = {"C": 10.0, "gamma": 0.5}
FOLDS = np.array([0.6, 0.7, 0.8, 0.7])


def trial(number, params, folds):
    extra = {f"split{k}_test_score": float(score) for k, score in enumerate(folds)}
    point = tuple(SPACE.encode(params).tolist())
    return Trial(number, params, point, "ok", float(np.mean(folds)), extra=extra)


def search(*candidates, best=1):
    """A fitted search with the default first, its choice being the candidate `best`."""
    trials = [trial(k, params, folds) for k, (params, folds) in enumerate([(DEFAULT, FOLDS), *candidates])]
    return SimpleNamespace(study_=SimpleNamespace(trials=trials, space=SPACE), n_splits_=len(FOLDS), best_index_=best)


def chosen(*candidates, **more):
    return choose(search(*candidates, **more), [DEFAULT], FOLDS)


INNER, BOUND = {"C": 20.0, "gamma": 0.3}, {"C": 100.0, "gamma": 0.3}
NOISE = np.array([0.04, -0.03, 0.02, -0.02])


def test_a_choice_within_its_ranges_stays():
    found = chosen((INNER, FOLDS + 0.05 + NOISE))
    assert (found.number, found.params, found.default, found.replaced, found.compares) == (1, INNER, 0, None, True)
    assert found.score == pytest.approx(0.75 + NOISE.mean())
    assert (found.n_better, found.n_candidates) == (1, 1)


def test_a_value_at_a_bound_gives_way_to_a_better_one_within_that_is_as_good():
    far = np.array([0.2, 0.21, 0.2, 0.21])
    assert chosen((BOUND, FOLDS + far)).number == 1
    inner = chosen((BOUND, FOLDS + far), (INNER, FOLDS + far - 0.001 + NOISE / 10))
    assert (inner.number, inner.replaced) == (2, Replaced(1, {"C": 100.0}))
    assert chosen((BOUND, FOLDS + far), (INNER, FOLDS + far - 0.1)).number == 1
    # the best of those within
    again = chosen(
        (BOUND, FOLDS + far), (INNER, FOLDS + far - 0.004 + NOISE), ({**INNER, "C": 30.0}, FOLDS + far - 0.003 + NOISE)
    )
    assert again.number == 3


def test_the_default_is_never_preferred_to_a_better_candidate_because_that_is_at_a_bound():
    found = chosen((BOUND, FOLDS + 0.01 + NOISE))
    assert (found.number, found.compares, found.replaced) == (1, True, None)
    # a candidate within its ranges that is worse than the default does not take the place of one at a bound that is better
    found = chosen((BOUND, FOLDS + 0.01 + NOISE), (INNER, FOLDS - 0.01 + NOISE))
    assert (found.number, found.n_better, found.n_candidates) == (1, 1, 2)


def test_only_candidates_better_than_the_default_are_compared():
    found = chosen((INNER, FOLDS - 0.01), ({**INNER, "C": 30.0}, FOLDS + 0.02), ({**INNER, "C": 40.0}, FOLDS + 0.01), best=2)
    assert (found.number, found.n_better) == (2, 2)
    # nothing is better: there is nothing to compare, and it can be said so
    found = chosen((INNER, FOLDS - 0.01), ({**INNER, "C": 30.0}, FOLDS))
    assert (found.number, found.compares, found.n_better) == (0, False, 0)
    # the search itself has chosen the default
    assert not chosen((INNER, FOLDS - 0.01), best=0).compares


def test_a_default_that_the_space_cannot_hold_has_no_trial():
    found = choose(search((INNER, FOLDS + 0.1)), [], FOLDS)
    assert (found.default, found.number) == (None, 1)
    assert choose(search((INNER, FOLDS + 0.1)), [DEFAULT], FOLDS - 0.1).default is None  # clipped to its range


def test_a_default_is_the_same_trial_though_two_solvers_stop_at_their_tolerance():
    found = choose(search((INNER, FOLDS - 0.1), best=0), [DEFAULT], FOLDS * (1 + 3e-5))
    assert (found.number, found.default) == (0, 0)
    assert choose(search((INNER, FOLDS - 0.1), best=0), [DEFAULT], FOLDS * 1.01).default is None


def verdict(value=0.1, interval=(0.02, 0.18), compares=True):
    choice = Choice(4, INNER, 0.75, 0, DEFAULT, 3, 10, compares, None)
    gain = TuningGain(value, interval, 0.04, metric="accuracy", rows={"out of fold": 150, "held out": 50})
    found = decide(choice, gain, ExpectedScore(0.7), ExpectedScore(0.8), on_folds=(0.72, 0.9), held_out_by="groups")
    assert (found.number, found.params) == ((0, DEFAULT) if found.recommended == "default" else (4, INNER))
    assert (found.default_on_folds, found.tuned_on_folds, found.held_out_by, found.n_better) == (0.72, 0.9, "groups", 3)
    return found


NONE = (np.nan, np.nan)


@pytest.mark.parametrize(
    ("changed", "decision", "recommended"),
    [
        ({}, "helped", "tuned"),
        ({"interval": (-0.02, 0.22)}, "no difference seen", "tuned"),
        ({"value": 0.0, "interval": (-0.03, 0.03)}, "no difference seen", "default"),
        ({"value": 0.0, "interval": NONE}, "no difference seen", "default"),
        ({"value": np.nan, "interval": NONE}, "no difference seen", "default"),
        ({"value": 0.1, "interval": NONE}, "no difference seen", "tuned"),
        ({"value": -0.06, "interval": (-0.14, 0.02)}, "no difference seen", "default"),
        ({"value": -0.1, "interval": (-0.14, -0.06)}, "did not help", "default"),
        ({"compares": False}, "did not help", "default"),
    ],
)
def test_the_rule(changed, decision, recommended):
    found = verdict(**changed)
    assert (found.decision, found.recommended) == (decision, recommended)


@contextmanager
def quiet(name, budget):
    yield None


def board(rng, n):
    X = rng.uniform(0, 4, size=(n, 2))
    return X, X.astype(int).sum(axis=1) % 2


def near(rng, n):
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 2.0 * y[:, None], y


def apart(rng, n):
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 20.0 * y[:, None], y


@pytest.mark.parametrize(
    ("draw", "n", "decision", "low", "high"),
    [
        (board, 240, "helped", 0.2, 0.6),
        (board, 60, "helped", 0.1, 0.6),
        (near, 120, "no difference seen", -0.05, 0.05),
        (apart, 120, "did not help", 0.0, 0.0),
    ],
)
def test_a_verdict_on_a_table_of_known_truth(draw, n, decision, low, high):
    """On 4000 new rows the difference is what the verdict says: large, or next to none, or none."""
    rng = np.random.default_rng(0)

    def drawn(n):
        X, y = draw(rng, n)
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y, name="y")

    job = Job.of(SVMSearch, make_table(*drawn(n)), n_trials=4, search="random", cv=3, oversearching="none", compare=False)
    default, *_, tuned = job.run(quiet)
    X, y = drawn(4000)
    truth = float((tuned.estimator.predict(X) == y).mean() - (default.estimator.predict(X) == y).mean())
    found = tuned.verdict
    assert found.decision == decision
    assert low <= truth <= high
    if found.compares:
        assert found.gain.interval[0] <= truth <= found.gain.interval[1]
        assert found.gain.rows == {"out of fold": len(job.train.y), "held out": len(job.test.y)}
    best = tuned if found.recommended == "tuned" else default
    low, high = found.expected.interval
    assert low <= float((best.estimator.predict(X) == y).mean()) <= high
    assert found.constant.held_out <= 0.6
