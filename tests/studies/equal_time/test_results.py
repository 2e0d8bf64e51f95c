import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from spotsvm.studies.equal_time.entrants import DEFAULTS, RANDOM
from spotsvm.studies.equal_time.results import (
    HIGHER,
    LOWER,
    NONE,
    OPEN,
    against,
    beside_defaults,
    judged,
    over_data_sets,
    over_splits,
    summaries,
    wide,
    with_regret,
    work,
)


def simulated(effects, *, sets=20, splits=6, seed=0, between=0.5, within=1.0):
    """Return runs in which an entrant's error differs from random search's by an effect, a part of the set and noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(sets):
        hard = rng.uniform(5, 30)
        own = {name: effect + between * rng.standard_normal() for name, effect in effects.items()} | {RANDOM: 0.0}
        for split in range(splits):
            base = hard + 3 * rng.standard_normal()
            for name, shift in own.items():
                for budget in (12, 25):
                    error = base + shift + (within * rng.standard_normal() if name != RANDOM else 0.0)
                    about = {"task": "t", "set": str(k), "split": split, "entrant": name, "budget": budget}
                    rows.append(about | {"error": error, "score": 1 - error / 100, "looks": budget})
    return pd.DataFrame(rows)


def differences(runs):
    return summaries(against(runs, "error", RANDOM), "difference")


def test_the_interval_is_that_of_the_t_test():
    values = np.random.default_rng(0).standard_normal(12)
    low, high = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert over_data_sets(values) == pytest.approx((values.mean(), low, high))
    wider = over_splits(values)
    assert wider.high - wider.low == pytest.approx((high - low) * np.sqrt(12 * (1 / 12 + 0.5)))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([-1.0, -1.1, -0.9], LOWER),
        ([1.0, 1.1, 0.9], HIGHER),
        ([-1.0, 1.0, 0.5], OPEN),
        ([-1.0], NONE),
        ([2.0, 2.0], NONE),
        ([1.0, 1 + 1e-15], NONE),
    ],
)
def test_a_verdict_is_what_the_interval_supports(values, verdict):
    assert over_data_sets(values).verdict == verdict


def test_the_judgement_of_simulated_differences_whose_truth_is_known():
    found = pd.concat([differences(simulated({"same": 0.0, "better": -0.8, "worse": 0.8}, seed=seed)) for seed in range(60)])
    verdicts = found[found.budget == 25].groupby("entrant")["verdict"].value_counts(normalize=True)
    assert verdicts["better", LOWER] > 0.95
    assert verdicts["worse", HIGHER] > 0.95
    assert verdicts["same", OPEN] > 0.85
    covered = found[(found.entrant == "same") & (found.low <= 0) & (found.high >= 0)]
    assert len(covered) / (found.entrant == "same").sum() > 0.9


def test_sentences_name_each_entrant_once_and_by_its_interval():
    found = differences(simulated({"same": 0.0, "better": -0.8, "worse": 0.8}))
    (sentence,) = judged(found, 25, "error", RANDOM)
    assert sentence.startswith("t, 25 units, 20 data sets, error against random search: lower for better -0.")
    assert "higher for worse +0." in sentence
    assert "not told apart for same " in sentence
    assert judged(found, 50, "error", RANDOM) == []
    (alone,) = judged(differences(simulated({"better": -9.0}, sets=1)), 25, "error", RANDOM)
    assert "no interval for better -" in alone


def test_differences_are_paired_by_split_and_budget():
    runs = simulated({"same": 0.0}, sets=2, splits=2)
    found = against(runs, "error", RANDOM)
    at = found.set_index(["set", "split", "entrant", "budget"])
    for budget in (12, 25):
        assert at.loc[("0", 1, RANDOM, budget), "difference"] == 0
        expected = at.loc[("0", 1, "same", budget), "error"] - at.loc[("0", 1, RANDOM, budget), "error"]
        assert at.loc[("0", 1, "same", budget), "difference"] == expected
    missing = runs[~((runs.entrant == RANDOM) & (runs.split == 1))]
    assert against(missing, "error", RANDOM).split.unique().tolist() == [0]


def test_regret_is_of_the_best_known_and_in_units_of_random_search():
    rows = [
        ("s", 0, RANDOM, 0.8),
        ("s", 0, "a", 0.9),
        ("s", 1, RANDOM, 0.7),
        ("s", 1, "a", 0.6),
        ("u", 0, RANDOM, 0.9),
        ("u", 0, "a", 0.5),
    ]
    runs = pd.DataFrame(rows, columns=["set", "split", "entrant", "score"]).assign(task="t", budget=25)
    found = with_regret(runs)
    assert found.regret_points.tolist() == pytest.approx([10, 0, 0, 10, 0, 40])
    # the median of 10 and 0 is the unit of the first set; in the second one random search has the best known score
    assert found.regret.tolist()[:4] == pytest.approx([2, 0, 0, 2])
    assert found.regret[4:].isna().all()
    assert summaries(found, "regret").set_index("entrant").loc["a", ["sets", "mean"]].tolist() == [1, 1]
    later = with_regret(pd.concat([runs, runs.assign(budget=50, score=[0.8, 0.9, 0.7, 0.6, 0.8, 0.5])]))
    assert wide(summaries(later, "regret")).set_index("entrant").loc["a", "25 units"] == "+1.00 (1 sets)"


def test_the_tables():
    runs = simulated({DEFAULTS: 0.0, "worse": 6.0}, sets=4)
    table = wide(differences(runs))
    assert table.columns.tolist() == ["task", "entrant", "sets", "12 units", "25 units"]
    assert table.set_index("entrant").loc[RANDOM, "25 units"] == "+0.00"
    beside = beside_defaults(runs, 25).set_index("entrant")
    assert beside.loc["worse", ["sets", "lower", "higher"]].tolist() == [4, 0, 4]
    assert beside.loc["worse", "largest loss"] > 5
    assert work(runs)["12 units"].tolist() == [12, 12, 12]
