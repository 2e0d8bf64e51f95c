from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm.space.space import Space
from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.trial import Trial
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.paired import share_interval
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.tables.table import make_table
from spotsvm.tuning.verdict import Choice, Gain, choose, decide, with_expected

SPACE = Space({"C": (1.0, 100.0), "gamma": (0.0, 1.0)})
DEFAULT = {"C": 10.0, "gamma": 0.5}
FOLDS = np.array([0.6, 0.7, 0.8, 0.7])


def trial(number, params, folds):
    extra = {f"split{k}_test_score": float(score) for k, score in enumerate(folds)}
    point = tuple(SPACE.encode(params).tolist())
    return Trial(number, params, point, "ok", float(np.mean(folds)), extra=extra)


def search(*candidates, best=1, further=()):
    """A fitted search with the default first, its choice being the candidate `best`."""
    trials = [trial(k, params, folds) for k, (params, folds) in enumerate([(DEFAULT, FOLDS), *candidates])]
    contenders = [{"trial": number, "partition 1": score, "compared by": 0.0} for number, score in further]
    findings = {"confirm": {"contenders": contenders}} if further else {}
    return SimpleNamespace(
        study_=SimpleNamespace(trials=trials, findings=findings, space=SPACE), n_splits_=len(FOLDS), best_index_=best
    )


def chosen(*candidates, **more):
    return choose(search(*candidates, **more), [DEFAULT], FOLDS)


INNER, BOUND = {"C": 20.0, "gamma": 0.3}, {"C": 100.0, "gamma": 0.3}
NOISE = np.array([0.04, -0.03, 0.02, -0.02])


def test_a_choice_within_its_ranges_stays():
    found = chosen((INNER, FOLDS + 0.05 + NOISE))
    assert (found.number, found.params, found.default, found.instead_of) == (1, INNER, 0, "")
    assert found.gain.value == pytest.approx(0.05 + NOISE.mean())
    assert found.gain.error == pytest.approx(np.sqrt((1 / 4 + 1 / 3) * NOISE.var(ddof=1)))


def test_a_value_at_a_bound_gives_way_to_one_within_that_is_as_good():
    found = chosen((BOUND, FOLDS + 0.01 + NOISE))
    assert (found.number, found.gain.value) == (0, 0.0)  # the default
    assert "trial 1, with C = 100 at the end of the range; trial 0, within all ranges, scores the same" in found.instead_of
    assert found.instead_of.endswith("and is the default SVM.")
    far = np.array([0.2, 0.21, 0.2, 0.21])
    assert chosen((BOUND, FOLDS + far)).number == 1
    assert chosen((BOUND, FOLDS + far), (INNER, FOLDS + far - 0.001 + NOISE / 10)).number == 2
    inner = chosen((BOUND, FOLDS + far), (INNER, FOLDS + far - 0.001 + NOISE / 10))
    assert inner.instead_of.endswith("and was compared with the default in its place.")
    assert chosen((BOUND, FOLDS + far), (INNER, FOLDS + far - 0.1)).number == 1
    # a contender on further partitions before one that was scored on the given folds alone
    again = chosen(
        (BOUND, FOLDS + far), (INNER, FOLDS + far - 0.004 + NOISE), ({**INNER, "C": 30.0}, FOLDS + far - 0.003 + NOISE),
        further=[(0, 0.7), (1, 0.9), (2, 0.91)],
    )  # fmt: skip
    assert (again.number, again.further) == (2, pytest.approx((0.21,)))


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


def verdict(gain=0.05, further=(), difference=0.1, interval=(0.02, 0.18), number=4, instead_of=""):
    choice = Choice(number, INNER, 0.7 + gain, Gain(gain, 0.02), further, 0, DEFAULT, instead_of)
    found = decide(
        choice, "accuracy", result("default", 0.7, 0.7), result("kriging", 0.7 + gain, 0.7 + difference),
        (difference, 0.04, interval), 50,
    )  # fmt: skip
    assert found.gain == gain
    assert (found.recommended == "default") == (found.decision == "did not help")
    assert (found.number, found.params) == ((0, DEFAULT) if found.recommended == "default" else (number, INNER))
    return choice, found


@pytest.mark.parametrize(
    ("changed", "decision", "said"),
    [
        ({}, "helped", "held-out +0.1 +- 0.04 (95 % interval +0.02 to +0.18); +0.05 (standard error 0.02) on the folds."),
        ({"interval": (-0.02, 0.22)}, "may have helped", "the held-out rows are too few to tell."),
        ({"interval": (np.nan, np.nan)}, "may have helped", "held-out +0.1 +- 0.04; +0.05"),
        ({"difference": np.nan, "interval": (np.nan, np.nan)}, "may have helped", "Tuning may have helped; +0.05"),
        ({"difference": -0.01, "interval": (-0.1, 0.08)}, "did not help", "but -0.01 on the held-out rows."),
        ({"gain": -0.02}, "did not help", "the candidate that the search chose scores -0.02"),
        ({"gain": 0.0}, "did not help", "no candidate scored better than it on the folds."),
        ({"number": 0}, "did not help", "no candidate scored better than it on the folds."),
        ({"further": (-0.01,)}, "did not help", "but -0.01 on further partitions of the rows."),
        (
            {"gain": -0.02, "further": (0.005, 0.005)},
            "did not help",
            "-0.02 (standard error 0.02) on the folds and +0.005 on further",
        ),
        ({"gain": -0.001, "further": (0.01,) * 5}, "helped", "on the folds and +0.01 on further partitions of the rows."),
        (
            {"gain": -0.001, "further": (0.01,) * 5, "difference": -0.1, "interval": (-0.2, 0.0)},
            "did not help",
            "on the held-out",
        ),
    ],
)
def test_the_rule(changed, decision, said):
    _, found = verdict(**changed)
    assert found.decision == decision
    assert said in found.sentence


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
        said.append(verdict(difference=float(more - less) / n, interval=interval)[1].decision)
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
    [(board, 240, "helped", 0.2, 0.6), (board, 60, "may have helped", 0.1, 0.6), (apart, 120, "did not help", 0.0, 0.0)],
)
def test_a_verdict_on_a_table_of_known_truth(draw, n, decision, low, high):
    """On 4000 new rows the difference is what the verdict says: large, there but not to be told from few rows, or none."""
    rng = np.random.default_rng(0)

    def drawn(n):
        X, y = draw(rng, n)
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y, name="y")

    job = TuningJob(make_table(*drawn(n)), n_trials=4, search="random", cv=3, oversearching="none")
    default, *_, tuned = job.run(quiet)
    X, y = drawn(4000)
    truth = float((tuned.estimator.predict(X) == y).mean() - (default.estimator.predict(X) == y).mean())
    found = tuned.verdict
    assert found.decision == decision
    assert low <= truth <= high
    assert found.interval[0] <= truth <= found.interval[1]
    assert (found.interval[0] > 0) == (decision == "helped")


def test_what_to_expect_is_about_the_recommended_machine():
    optimism = Optimism(0.02, (0.0, 0.04), 0.95, "partitions", "nadeau-bengio", 0.75, 0.73, (0.7, 0.76), 10, "accuracy")
    choice, found = verdict()
    tuned = with_expected(found, choice, FOLDS, optimism)
    assert (tuned.expected, tuned.expected_interval) == (0.73, (0.7, 0.76))
    assert np.isnan(with_expected(found, choice, FOLDS, None).expected)
    choice, found = verdict(instead_of="another one")
    assert np.isnan(with_expected(found, choice, FOLDS, optimism).expected)  # it is not the one with this optimism
    choice, found = verdict(gain=-0.01)
    kept = with_expected(found, choice, FOLDS, optimism)
    low, high = kept.expected_interval
    assert kept.expected == pytest.approx(FOLDS.mean())
    assert 0 < low < kept.expected < high < 1
    choice, found = verdict(gain=0.0, number=0)  # the default is what the search has chosen, and is said to be lucky
    kept = with_expected(found, choice, FOLDS, optimism)
    assert (kept.expected, kept.expected_interval) == (0.73, (0.7, 0.76))
    assert with_expected(found, choice, FOLDS, replace(optimism, method="nested")).expected == pytest.approx(FOLDS.mean())
