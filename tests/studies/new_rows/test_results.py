from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap, ttest_1samp

from spotsvm.studies.new_rows.entrants import DEFAULTS, REFERENCE
from spotsvm.studies.new_rows.results import (
    HIGHER,
    LOWER,
    NONE,
    OPEN,
    against,
    compare_to,
    compared,
    draw,
    estimate,
    judged,
    judged_sentences,
    judged_table,
    judgement,
    over_sets,
    score_table,
    spent,
    summaries,
    units,
    wide,
    with_units,
)
from spotsvm.studies.new_rows.scores import SCORES
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION

TITLES = {0: "own time", 5: "5 units", 25: "25 units"}


def simulated(effects, *, task=CLASSIFICATION, sets=12, splits=4, seed=0, between=0.3, within=0.5):
    """Return runs in which an entrant's error differs from the reference's by an effect, a part of the set and noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(sets):
        hard, own = rng.uniform(10, 30), {name: effect + between * rng.standard_normal() for name, effect in effects.items()}
        for split in range(splits):
            about = {
                "task": task,
                "kind": "numbers",
                "trait": "plain",
                "set": f"s{k}",
                "rows": 300,
                "split": split,
                "failure": "",
            }
            for seed_ in range(3):
                error = hard + seed_ - 1
                rows.append(about | {"entrant": REFERENCE, "seed": seed_, "budget": 0, "error": error, "searched": 2.5})
            for name, shift in own.items():
                for budget in (0,) if name == DEFAULTS else (5, 25):
                    noisy = shift + within * rng.standard_normal()
                    error = hard * np.exp(noisy) if task == REGRESSION else hard + noisy
                    rows.append(about | {"entrant": name, "seed": 0, "budget": budget, "error": error, "searched": 0.1 * budget})
    runs = pd.DataFrame(rows)
    return runs.assign(seconds=runs["searched"] + 0.1, looks=25)


def test_the_interval_is_that_of_the_t_test():
    values = np.random.default_rng(0).standard_normal(12)
    low, high = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert estimate(values, False)[:3] == pytest.approx((values.mean(), low, high))
    assert estimate(values, True)[:3] == pytest.approx(np.exp((values.mean(), low, high)))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [([-1.0, -1.1, -0.9], LOWER), ([1.0, 1.1, 0.9], HIGHER), ([-1, 1, 0.5], OPEN), ([-1.0], NONE), ([2.0, 2.0], NONE)],
)
@pytest.mark.parametrize("ratio", [False, True])
def test_a_verdict_is_what_the_interval_supports(values, verdict, ratio):
    assert estimate(values, ratio).verdict == verdict


@pytest.mark.parametrize("task", [CLASSIFICATION, REGRESSION])
def test_the_judgement_of_simulated_differences_whose_truth_is_known(task):
    scale = 0.1 if task == REGRESSION else 1.0
    effects = {"same": 0.0, "better": -0.6 * scale, "worse": 0.6 * scale}
    runs = [simulated(effects, task=task, seed=k, splits=2, between=0.3 * scale, within=0.5 * scale) for k in range(25)]
    found = pd.concat([summaries(against(one, REFERENCE)) for one in runs])
    verdicts = found[found["budget"] == 25].groupby("entrant")["verdict"].value_counts(normalize=True)
    assert verdicts["better", LOWER] > 0.9
    assert verdicts["worse", HIGHER] > 0.9
    assert verdicts["same", OPEN] > 0.8
    same = 1.0 if task == REGRESSION else 0.0
    assert found[found["entrant"] == REFERENCE]["mean"].to_numpy() == pytest.approx(same)


def test_the_interval_over_sets_is_that_of_the_bootstrap():
    values = np.random.default_rng(0).standard_normal(12)
    expected = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", random_state=1).confidence_interval
    assert over_sets(values, False)[:3] == pytest.approx((values.mean(), *expected), abs=0.02)
    assert over_sets(values, True)[:3] == pytest.approx(tuple(np.exp(over_sets(values, False)[:3])))
    assert over_sets(values, False) == over_sets(values, False)  # of one seed
    assert over_sets(values[:4], False).verdict == NONE


def test_differences_are_paired_by_split_and_to_the_mean_of_the_seeds():
    runs = simulated({"a": 1.0}, sets=2, splits=2)
    found = against(runs, REFERENCE).set_index(["set", "split", "entrant", "budget"])
    errors = runs.groupby(["set", "split", "entrant", "budget"])["error"].mean()
    for budget in (5, 25):
        expected = errors["s1", 1, "a", budget] - errors["s1", 1, REFERENCE, 0]
        assert found.loc[("s1", 1, "a", budget), "difference"] == pytest.approx(expected)
    ratios = against(runs.assign(task=REGRESSION), REFERENCE).set_index(["set", "split", "entrant", "budget"])
    expected = np.log(errors["s1", 1, "a", 5] / errors["s1", 1, REFERENCE, 0])
    assert ratios.loc[("s1", 1, "a", 5), "difference"] == pytest.approx(expected)
    # a rival with budgets is compared at the same one
    twice = pd.concat([runs, runs[runs["entrant"] == "a"].assign(entrant="b", error=lambda x: x["error"] + x["budget"])])
    assert against(twice, "a").query("entrant == 'b'")["difference"].tolist() == pytest.approx([5, 25] * 4)
    fewer = runs[~((runs["entrant"] == REFERENCE) & (runs["split"] == 1))]
    assert against(fewer, REFERENCE)["split"].unique().tolist() == [0]


def test_the_unit_is_the_mean_time_of_an_evaluation_over_the_seeds_of_the_reference():
    runs = simulated({"a": 0.0}, sets=1, splits=2)
    runs.loc[(runs["entrant"] == REFERENCE) & (runs["split"] == 1), "searched"] = [5.0, 10.0, 15.0]
    assert units(runs).tolist() == pytest.approx([2.5 / 25, 10.0 / 25])
    of_a = with_units(runs).query("entrant == 'a'").set_index(["split", "budget"])["spent"]
    assert of_a[0, 25] == pytest.approx((2.5 + 0.1) / 0.1)
    assert of_a[1, 25] == pytest.approx((2.5 + 0.1) / 0.4)
    assert spent(with_units(runs), TITLES).columns.tolist() == ["task", "entrant", "own time", "5 units", "25 units"]


def test_the_tables_name_sets_and_count_them():
    runs = simulated({DEFAULTS: 0.0, "worse": 8.0, "half": 0.0}, sets=4)
    runs = runs[~((runs["entrant"] == "half") & (runs["set"] == "s0") & (runs["budget"] == 5))]
    table = wide(summaries(against(runs, REFERENCE)), "budget", TITLES).set_index("entrant")
    assert table.loc["half", "5 units"].endswith(" (3 sets)")
    assert "sets" not in table.loc["half", "25 units"]
    assert table.loc[REFERENCE, "own time"] == "+0.00"
    assert table.loc[DEFAULTS, "25 units"] == ""
    rows = compare_to(runs, DEFAULTS).set_index(["entrant", "budget"])
    assert rows.loc[("worse", 25), ["sets", "lower", "higher"]].tolist() == [4, 0, 4]
    worst = against(runs, DEFAULTS).query("entrant == 'worse' and budget == 25").groupby("set")["difference"].mean()
    assert rows.loc[("worse", 25), "higher on"].startswith(f"{worst.idxmax()} {worst.max():+.2f}; ")


def test_who_is_better_than_the_others_and_where_not():
    runs = pd.concat(
        [simulated({DEFAULTS: 0.0, "rival": 1.0}, sets=6), simulated({DEFAULTS: 0.0, "rival": 1.0}, task=REGRESSION)]
    )
    runs = runs[(runs["budget"] != 5)].assign(budget=0)
    table = compared(runs, DEFAULTS, ["rival", REFERENCE]).set_index(["task", "against"])
    assert table.index.tolist() == [(t, r) for t in (CLASSIFICATION, REGRESSION) for r in ("rival", REFERENCE)]
    assert table.loc[(CLASSIFICATION, "rival"), "difference"].startswith("-")
    assert table.loc[(REGRESSION, "rival"), "difference"].startswith("0.")
    for (task, rival), row in table.iterrows():
        found = against(runs, rival)
        means = found[(found["entrant"] == DEFAULTS) & (found["task"] == task)].groupby("set")["difference"].mean()
        worse = means[means > 0].sort_values(ascending=False)
        assert row["better"] == (means < 0).sum()
        assert [part.rsplit(" ", 1)[0] for part in row["worse on"].split("; ") if part] == worse.index.tolist()


def test_failed_trials_count_nowhere():
    runs = simulated({"a": 0.0}, sets=3)
    lost = (runs["entrant"] == "a") & (runs["set"] == "s2")
    found = summaries(against(runs.assign(error=runs["error"].mask(lost)), REFERENCE)).set_index(["entrant", "budget"])
    assert found.loc[("a", 5), "sets"] == 2


def test_sentences_name_each_entrant_once_and_by_its_interval():
    found = summaries(against(simulated({"same": 0.0, "better": -2.0, "worse": 2.0}), REFERENCE))
    (sentence,) = judged(found, 25, 300)
    assert sentence.startswith(
        "Classification, 300 rows, 12 data sets, 25 units or an entrant's own time, error in points against "
    )
    assert "lower for better -" in sentence
    assert "higher for worse +" in sentence
    assert "undecided for same " in sentence
    assert REFERENCE not in sentence.split(": ", 1)[1]


def test_the_figure_draws_every_entrant_at_the_time_it_took():
    runs = with_units(pd.concat([simulated({"a": 0.0}), simulated({"a": 0.0}, task=REGRESSION)]))
    times = runs.groupby(["task", "entrant", "budget"], as_index=False)["spent"].median()
    figure = draw(summaries(against(runs, REFERENCE)), times, [REFERENCE, "a"])
    assert [panel.get_title() for panel in figure.axes] == [CLASSIFICATION, REGRESSION]
    line = figure.axes[0].containers[1][0]
    expected = times[(times["task"] == CLASSIFICATION) & (times["entrant"] == "a")]["spent"]
    assert sorted(line.get_xdata()) == pytest.approx(sorted(expected))


def scored():
    """Return runs of three entrants on 8 sets: "good" has the best of each score, and half of the sets are imbalanced."""
    rng = np.random.default_rng(0)
    rows = []
    levels = {"good": 1.0, "bad": 2.0, REFERENCE: 3.0}
    for k, split, (name, level) in product(range(8), range(2), levels.items()):
        noise = 0.1 * rng.standard_normal()
        about = {"task": CLASSIFICATION, "kind": ("numbers", "categories")[k % 2], "trait": ("plain", "imbalanced")[k // 4]}
        about |= {"set": f"s{k}", "rows": 300, "split": split, "entrant": name, "seed": 0, "budget": 0, "failure": ""}
        values = {"error": 10 * level, "rmse": np.nan, "log_loss": level, "auc": 1 - level / 10, "brier": level, "seconds": level}
        rows.append(about | {n: v + noise * (n == "error") for n, v in values.items()} | {"calibration_error": np.nan})
    return pd.DataFrame(rows)


def test_an_entrant_is_judged_by_each_score_on_each_kind_of_sets():
    runs = scored()
    found = judgement(runs, "good", ["bad", REFERENCE]).set_index(["measure", "kind", "against"])
    # no entrant has a calibration error, and no set is skewed
    assert {measure for measure, _, _ in found.index} == {
        "error, points", "log loss", "AUC", "Brier score", "processor time, ratio",
    }  # fmt: skip
    assert {kind for _, kind, _ in found.index} == {"all", "numbers", "categories", "imbalanced"}
    error = found.loc[("error, points", "all", "bad")]
    assert (error["sets"], error["better"], error["worse"]) == (8, 8, 0)
    assert error["low"] < error["mean"] < error["high"] < -9
    assert found.loc[("AUC", "all", "bad"), "mean"] == pytest.approx(0.1)
    assert found.loc[("AUC", "all", "bad"), "better"] == 8
    assert found.loc[("processor time, ratio", "all", REFERENCE), "median"] == pytest.approx(1 / 3)
    assert found.loc[("log loss", "imbalanced", "bad"), "sets"] == 4
    means = runs[runs["trait"] == "imbalanced"].groupby("entrant")["error"].mean()
    assert found.loc[("error, points", "imbalanced", "bad"), "mean"] == pytest.approx(means["good"] - means["bad"])


def test_the_tables_and_sentences_of_a_judgement():
    found = judgement(scored(), "good", ["bad", REFERENCE])
    whole, by_kind = judged_table(found, by_kind=False), judged_table(found, by_kind=True)
    assert whole["against"].tolist() == ["bad", REFERENCE]
    assert whole["sets"].tolist() == [8, 8]
    assert whole["AUC"].tolist() == ["+0.100; +0.100; 8 : 0", "+0.200; +0.200; 8 : 0"]
    assert by_kind["kind"].value_counts().to_dict() == {"numbers": 2, "categories": 2, "imbalanced": 2}
    assert set(by_kind["sets"]) == {4}
    sentences = judged_sentences(found, "good")
    assert len(sentences) == 2
    assert sentences[0].startswith("Classification, 300 rows, error, points: good against bad -10.")
    assert sentences[0].endswith("better on 8 and worse on 0 of 8 sets.")


def test_scores_have_medians_beside_means():
    runs = scored()
    table = score_table(runs).set_index("entrant")
    assert table.loc["good", "AUC, mean"] == pytest.approx(0.9)
    assert table.loc["bad", "log loss, median"] == pytest.approx(2.0)
    assert set(SCORES) <= set(runs)
    assert not any("calibration" in name or "RMSE" in name for name in table)  # nobody has one
