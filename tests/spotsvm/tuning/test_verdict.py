from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm.luck.difference import Difference, share_interval
from spotsvm.luck.verdict import Replaced
from spotsvm.space.space import Space
from spotsvm.trials.trial import Trial
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.tables.table import make_table
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
    assert (found.number, found.params, found.default, found.replaced, found.why_default) == (1, INNER, 0, None, None)
    assert found.gain.value == pytest.approx(0.05 + NOISE.mean())
    assert found.gain.error == pytest.approx(np.sqrt((1 / 4 + 1 / 3) * NOISE.var(ddof=1)))
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
    assert (found.number, found.why_default, found.replaced) == (1, None, None)
    # a candidate within its ranges that is worse than the default does not take the place of one at a bound that is better
    found = chosen((BOUND, FOLDS + 0.01 + NOISE), (INNER, FOLDS - 0.01 + NOISE))
    assert (found.number, found.n_better, found.n_candidates) == (1, 1, 2)


def test_only_candidates_better_than_the_default_are_compared():
    found = chosen((INNER, FOLDS - 0.01), ({**INNER, "C": 30.0}, FOLDS + 0.02), ({**INNER, "C": 40.0}, FOLDS + 0.01), best=2)
    assert (found.number, found.n_better) == (2, 2)
    # nothing is better: there is nothing to compare, and it can be said so
    found = chosen((INNER, FOLDS - 0.01), ({**INNER, "C": 30.0}, FOLDS))
    assert (found.number, found.why_default, found.n_better) == (0, "none better", 0)
    # the search itself has chosen the default
    assert chosen((INNER, FOLDS - 0.01), best=0).why_default == "none better"


def test_a_default_that_the_space_cannot_hold_has_no_trial():
    found = choose(search((INNER, FOLDS + 0.1)), [], FOLDS)
    assert (found.default, found.number) == (None, 1)
    assert choose(search((INNER, FOLDS + 0.1)), [DEFAULT], FOLDS - 0.1).default is None  # clipped to its range


def test_a_default_is_the_same_trial_though_two_solvers_stop_at_their_tolerance():
    found = choose(search((INNER, FOLDS - 0.1), best=0), [DEFAULT], FOLDS * (1 + 3e-5))
    assert (found.number, found.default) == (0, 0)
    assert choose(search((INNER, FOLDS - 0.1), best=0), [DEFAULT], FOLDS * 1.01).default is None


def result(name, tuned, test):
    return HeldOutResult(name, tuned, test, 0.02, DummyClassifier())


def verdict(gain=0.05, difference=0.1, interval=(0.02, 0.18), why=None):
    choice = Choice(4, INNER, 0.7 + gain, Difference(gain, error=0.02), 0, DEFAULT, 3, 10, why, None)
    found = decide(
        choice, "accuracy", result("default", 0.7, 0.7), result("kriging", 0.7 + gain, 0.7 + difference),
        Difference(difference, interval, 0.04), n_held_out=50, n_train=150,
    )  # fmt: skip
    assert found.gain.value == gain
    assert (found.number, found.params) == ((0, DEFAULT) if found.recommended == "default" else (4, INNER))
    return found


NONE = (np.nan, np.nan)


@pytest.mark.parametrize(
    ("changed", "decision", "reason", "recommended"),
    [
        ({}, "helped", "held-out better", "tuned"),
        ({"interval": (-0.02, 0.22)}, "no difference seen", "undecided", "tuned"),
        ({"difference": 0.0, "interval": (-0.03, 0.03)}, "no difference seen", "undecided", "tuned"),
        ({"difference": 0.0, "interval": NONE}, "no difference seen", "no interval", "tuned"),
        ({"difference": np.nan, "interval": NONE}, "no difference seen", "no interval", "tuned"),
        # small beside the interval, and all rows together are for the tuned model, or against it
        ({"difference": -0.01, "interval": (-0.1, 0.08)}, "no difference seen", "undecided", "tuned"),
        ({"difference": -0.02, "interval": (-0.1, 0.06), "gain": 0.005}, "no difference seen", "undecided", "default"),
        ({"difference": -0.06, "interval": (-0.14, 0.02)}, "did not help", "held-out worse", "default"),
        ({"difference": -0.1, "interval": (-0.14, -0.06)}, "did not help", "held-out worse", "default"),
        ({"why": "none better"}, "did not help", "none better", "default"),
    ],
)
def test_the_rule(changed, decision, reason, recommended):
    found = verdict(**changed)
    assert (found.decision, found.reason, found.recommended) == (decision, reason, recommended)


@pytest.mark.parametrize(
    ("n", "gained", "lost", "low", "high"),
    [(50, 0.1, 0.1, 0.0, 0.035), (150, 0.03, 0.03, 0.0, 0.035), (50, 0.35, 0.05, 0.9, 1.0)],
)
def test_how_often_it_says_that_tuning_helped(n, gained, lost, low, high):
    """Where nothing is to gain it hardly ever says so, although the folds always seem to gain; where much is, nearly always."""
    rng = np.random.default_rng(0)
    said = []
    for more, less, _ in rng.multinomial(n, [gained, lost, 1 - gained - lost], size=1000):
        error, interval = share_interval(more, less, n)
        said.append(verdict(difference=float(more - less) / n, interval=interval).decision)
    assert low <= said.count("helped") / len(said) <= high


@contextmanager
def quiet(name, budget):
    yield None


def board(rng, n):
    X = rng.uniform(0, 4, size=(n, 2))
    return X, X.astype(int).sum(axis=1) % 2


def apart(rng, n):
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 20.0 * y[:, None], y


@pytest.mark.parametrize(
    ("draw", "n", "decision", "low", "high"),
    [(board, 240, "helped", 0.2, 0.6), (board, 60, "no difference seen", 0.1, 0.6), (apart, 120, "did not help", 0.0, 0.0)],
)
def test_a_verdict_on_a_table_of_known_truth(draw, n, decision, low, high):
    """On 4000 new rows the difference is what the verdict says: large, there but not to be told from few rows, or none."""
    rng = np.random.default_rng(0)

    def drawn(n):
        X, y = draw(rng, n)
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y, name="y")

    job = TuningJob(make_table(*drawn(n)), n_trials=4, search="random", cv=3, oversearching="none", compare=False)
    default, *_, tuned = job.run(quiet)
    X, y = drawn(4000)
    truth = float((tuned.estimator.predict(X) == y).mean() - (default.estimator.predict(X) == y).mean())
    found = tuned.verdict
    assert found.decision == decision
    assert low <= truth <= high
    if found.compares:
        assert found.difference.interval[0] <= truth <= found.difference.interval[1]
        assert (found.difference.interval[0] > 0) == (decision == "helped")
    best = tuned if found.recommended == "tuned" else default
    low, high = found.expected.interval
    assert low <= float((best.estimator.predict(X) == y).mean()) <= high
    assert found.constant.held_out <= 0.6
