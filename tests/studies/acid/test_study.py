import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import Space, load_study, mean_class_accuracy, spectra_pipeline
from spotsvm.errors import DataError
from spotsvm.studies.acid.results import by_budget, judged, on_figure_2, on_judgement, on_parameters, table_8
from spotsvm.studies.acid.study import AcidStudy
from spotsvm.studies.acid.task import CLASSES, PRINTED, UNTUNED, AcidTask, acid_space, untuned_svc

NAMES = {"XPERC": "importancefraction__fraction", "GAMMA": "cutoffclassifier__estimator__gamma"}
NAMES |= {"COST": "cutoffclassifier__estimator__C"}
NAMES |= {f"CLASSWT[{c}]": f"cutoffclassifier__class_weight__{c}" for c in CLASSES}
NAMES |= {f"CUTOFF[{c}]": f"cutoffclassifier__cutoff__{c}" for c in CLASSES[:-1]}
PARAMS = {"XPERC": 0.6, "GAMMA": 0.01, "COST": 20.0} | {f"CLASSWT[{c}]": 0.1 * c for c in CLASSES}
PARAMS |= {f"CUTOFF[{c}]": 0.05 * c for c in CLASSES[:-1]}


@pytest.fixture(scope="module")
def study():
    return AcidStudy(
        quick=True, budgets=[2, 3], seeds=2, entrants={"lhs": ("default", "lhs"), "random": ("table8", "random")}
    ).run()


@pytest.mark.parametrize(
    ("region", "gamma", "cost"), [("table7", (0.005, 0.3), (1.0, 10.0)), ("table8", (0.001, 0.8), (0.01, 100.0))]
)
def test_twelve_parameters_in_the_papers_regions(region, gamma, cost):
    space = acid_space(region)
    assert list(space) == list(PRINTED)[:-1]
    known = {"GAMMA": gamma, "COST": cost, "XPERC": (0.05, 1.0), "CLASSWT[5]": (0.05, 1.0), "CUTOFF[4]": (0.01, 0.4)}
    assert {name: space[name].support() for name in known} == {name: pytest.approx(ends) for name, ends in known.items()}


@pytest.mark.parametrize("region", ["default", "table8"])
def test_an_evaluation_is_what_the_pipeline_gives(region):
    task = AcidTask("simulated", quick=True, region=region)
    data = task.data
    seeds = [int(s) for s in np.random.default_rng(3).integers(2**31, size=2)]
    pipeline, _ = spectra_pipeline("classification", len(data.train), CLASSES, scale=False, region=region)
    pipeline.set_params(**{NAMES[name]: value for name, value in PARAMS.items()}, principalmonomials__n_kept=12)
    pipeline.set_params(
        importancefraction__n_estimators=50, importancefraction__max_samples=0.3, importancefraction__min_samples_leaf=2
    )
    scores = []
    for seed in seeds:
        train, later = data.split(seed)
        machine = clone(pipeline).set_params(importancefraction__random_state=seed).fit(data.X[train], data.y[train])
        scores.append(mean_class_accuracy(data.y[later], machine.predict(data.X[later])))
    found = task(PARAMS, seed=3)
    assert found == {"value": pytest.approx(np.mean(scores)), "repeat_0": scores[0], "repeat_1": scores[1]}
    assert task(PARAMS, seed=3) == found
    assert task(PARAMS, seed=4) != found
    machine = pipeline.set_params(importancefraction__random_state=0).fit(data.X[data.train], data.y[data.train])
    assert task.test(PARAMS) == mean_class_accuracy(data.y[data.test], machine.predict(data.X[data.test]))


@pytest.mark.parametrize("region", ["two", "table8"])
def test_the_default_is_that_of_the_pipeline(region):
    task = AcidTask("simulated", quick=True, region=region)
    known = "table8" if region == "table8" else "default"
    pipeline, _ = spectra_pipeline("classification", len(task.data.train), CLASSES, region=known)
    pipeline.set_params(
        principalmonomials__n_kept=12, importancefraction__n_estimators=50, importancefraction__max_samples=0.3,
        importancefraction__min_samples_leaf=2, importancefraction__fraction=1.0 if region == "two" else 0.5,
    )  # fmt: skip
    data = task.data
    machine = pipeline.fit(data.X[data.train], data.y[data.train])
    assert set(task.default) == set(acid_space(region))
    assert task.test(task.default) == pytest.approx(mean_class_accuracy(data.y[data.test], machine.predict(data.X[data.test])))


def test_the_untuned_machine_is_scikit_learn_s():
    data = AcidTask("simulated", quick=True).data
    machine = make_pipeline(StandardScaler(), SVC(class_weight="balanced")).fit(data.X[data.train], data.y[data.train])
    assert untuned_svc(data) == pytest.approx(balanced_accuracy_score(data.y[data.test], machine.predict(data.X[data.test])))


def test_tables_against_sums_by_hand(study):
    frame, table = study.frame(), study.table()
    tuners = ["lhs", "random"]
    assert table.tuner.tolist() == [*UNTUNED, *tuners, *tuners]
    part = frame[(frame.tuner == "random") & (frame.budget == 3)]
    row = table[(table.tuner == "random") & (table["design points"] == 3)].iloc[0]
    assert row.tuned == pytest.approx(part.tuned.mean())
    assert row["sd test"] == pytest.approx(np.std(part.test, ddof=1))
    assert row.optimism == pytest.approx(np.mean(part.tuned.to_numpy() - part.test_best_seen.to_numpy()))
    for region in ("default", "table8"):
        eight = study.table_8(region).set_index("name")
        assert len(eight) == 13
        assert eight["best, cutoffs that sum to 1"].loc[[f"CUTOFF[{c}]" for c in CLASSES]].sum() == pytest.approx(1.0)
        assert eight.loc["XPERC", "paper"] == 0.237
        assert eight.loc["XPERC", "best"] in set(frame[(frame.region == region) & (frame.budget == 3)].XPERC)


def test_the_gains_of_the_confusion_matrix_are_the_mean_class_accuracy(study):
    frame, gains = study.frame(), study.gains()
    last = frame[frame.budget == 3]
    best = last.loc[last.predicted.idxmax()]
    tests = {best.tuner: best.test} | frame[frame.budget == 0].set_index("tuner").test.to_dict()
    of_model = gains.groupby("model", sort=False)
    assert of_model["gain of the class"].sum().to_dict() == pytest.approx(tests)
    data = AcidTask("simulated", quick=True).data
    sizes = np.bincount(data.y[data.test])[1:].tolist()
    for _, part in of_model:
        assert part[[f"predicted {c}" for c in CLASSES]].sum(axis=1).tolist() == part["records"].tolist() == sizes
        assert (part["gain of a right record"] * part["records"]).tolist() == pytest.approx([0.2] * 5)
    pd.testing.assert_frame_equal(study.further_tables()["Confusion and gains on the test rows"], gains)


def test_figure_2_s_claim_is_tested_in_the_region_of_table_8():
    scores = {"koch2011, Table 8": (0.9, 0.92), "cmaes, Table 8": (0.85, 0.89), "random, Table 8": (0.91, 0.94)}
    rows = [
        {"tuner": tuner, "seed": seed, "budget": 25, "test": test}
        for tuner, tests in scores.items()
        for seed, test in enumerate(tests)
    ]
    half = 12.706205 / np.sqrt(2) * np.std([[0.05, 0.03], [-0.01, -0.02]], axis=1, ddof=1)
    assert on_figure_2(pd.DataFrame(rows)) == (
        "In the region of Table 8 the paper's search gains on the test rows over CMA-ES "
        f"+0.040 ({0.04 - half[0]:+.3f} to {0.04 + half[0]:+.3f}) after 25; "
        f"over random search -0.015 ({-0.015 - half[1]:+.3f} to {-0.015 + half[1]:+.3f}) after 25."
    )
    assert on_figure_2(pd.DataFrame(rows[:2])) == ""


def test_all_start_at_the_defaults_and_the_centre(tmp_path):
    entrants = {"a": ("default", "random"), "b": ("default", "lhs"), "few": ("three", "random"), "paper": ("table8", "random")}
    AcidStudy(quick=True, budgets=[2], seeds=1, entrants=entrants, path=tmp_path).run()
    values = {}
    for label, (region, _) in entrants.items():
        trials = load_study(tmp_path / f"simulated_{region}" / f"{label}_seed0.db").trials
        assert [t.origin for t in trials] == ["start", "start"]
        space = Space(acid_space(region))
        first = [AcidTask("simulated", True, region).default, space.decode(np.full(len(space.names), 0.5))]
        for trial, params in zip(trials, first, strict=True):
            assert trial.params == pytest.approx(params)
        values[label] = [t.value for t in trials]
    # balanced weights and equal cutoffs are in the middle of the default region
    assert values["a"] == values["b"] == values["few"]
    assert values["paper"] != values["a"]


def test_twelve_parameters_against_three():
    rows = [
        {"tuner": tuner, "seed": seed, "budget": 25, "test": test}
        for tuner, tests in {"kriging": (0.9, 0.92, 0.91), "kriging, 3 parameters": (0.88, 0.91, 0.88)}.items()
        for seed, test in enumerate(tests)
    ]
    half = 4.302653 * np.std([0.02, 0.01, 0.03], ddof=1) / np.sqrt(3)
    shown = f"+0.020 ({0.02 - half:+.3f} to {0.02 + half:+.3f}) after 25"
    text = on_parameters(pd.DataFrame(rows))
    assert text == f"Kriging's twelve parameters in the default region gain over three parameters {shown}."
    assert on_parameters(pd.DataFrame(rows[:3])) == ""


def runs_of(differences):
    """Return runs of two tuners whose recommended trial does so much better than the best seen, seed by seed."""
    rows = [{"tuner": UNTUNED[0], "seed": -1, "budget": 0, "test": 0.5}]
    for seed, pair in enumerate(differences):
        for tuner, d in zip(("a", "b"), pair, strict=True):
            rows.append({"tuner": tuner, "seed": seed, "budget": 25, "test": 0.8 + d, "test_best_seen": 0.8})
            rows[-1] |= {"recommended": 1, "best_seen": 1 if d == 0 else 2}
    return pd.DataFrame(rows)


def test_the_judgement_is_over_seeds():
    table = judged(runs_of([(0.02, 0.0), (0.01, 0.03), (0.0, -0.01)]))
    row = table.iloc[0]
    assert row["another trial"] == 4
    assert (row.better, row.worse, row.runs) == (3, 1, 6)
    means = np.array([0.01, 0.02, -0.005])
    assert row.difference == pytest.approx(means.mean())
    assert row.high - row.difference == pytest.approx(4.302653 * means.std(ddof=1) / np.sqrt(3), rel=1e-5)
    assert "no clear difference" in on_judgement(table)
    assert "the recommendation is the better choice" in on_judgement(judged(runs_of([(0.02, 0.03), (0.02, 0.03), (0.02, 0.031)])))
    assert "the best seen would have been" in on_judgement(judged(runs_of([(-0.02, -0.03), (-0.02, -0.03), (-0.02, -0.031)])))
    assert on_judgement(judged(runs_of([(0.0, 0.0)]))) == "The recommended trial is the best seen in every run."


@pytest.mark.data
def test_on_the_real_spectra():
    made = AcidStudy(quick=True, budgets=[6], seeds=1, entrants={"random": ("table7", "random")})
    made = made.use_data(os.environ["SPOTSVM_DATA"])
    assert made.used_source == "tecator"
    assert "240 samples of meat" in made.run().to_markdown()
    assert "region of Table 7" in made.to_markdown()
    assert by_budget(made.frame()).tuner.tolist() == [*UNTUNED, "random"]
    assert table_8(made.frame(), "table7").set_index("name").loc["GAMMA", "high"] == pytest.approx(0.3)


def test_a_folder_without_the_spectra(tmp_path):
    with pytest.raises(DataError, match="there is no tecator.csv"):
        AcidStudy().use_data(tmp_path)
