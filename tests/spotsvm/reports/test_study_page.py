import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, load_study
from spotsvm.errors import ArgumentError
from spotsvm.luck.fold_bias import optimism_of_trials
from spotsvm.reports.model import AgainstRandom
from spotsvm.reports.recommended import plausible_ranges
from spotsvm.reports.report import study_page
from spotsvm.reports.view import StudyView
from spotsvm.trials.findings import Findings
from spotsvm.trials.results import StudyResults
from tests.spotsvm.reports.pages import SECTIONS, check_page

SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


def bowl(p):
    return p["x"] ** 2 + 2 * p["y"] ** 2


def noisy_study(search="kriging", **settings):
    rng = np.random.default_rng(0)
    return Study(SQUARE, search, 0, **settings).run(lambda p: bowl(p) + 0.2 * rng.normal(), n_trials=30)


def rendered(*studies):
    """Return the page of a study as HTML, and its outline after the checks that hold for every page."""
    text = study_page(*studies).html()
    return text, check_page(text)


def headings(page):
    return [text for rank, text in page.headings if rank == 2]


def section(text, heading):
    """The text of one section, without tags."""
    start = text.index(f">{heading}</h2>")
    end = text.find("<h2", start)
    return text[start : end if end > 0 else len(text)]


def test_a_noisy_study_has_every_section_and_the_recommendation_beside_the_best_seen():
    study = noisy_study()
    text, page = rendered(study)
    assert headings(page) == SECTIONS
    found = study.recommend()
    assert found.basis == "predicted"
    told = section(text, "Recommended parameters")
    for value in (found.value, found.standard_error, found.best_seen_value, found.best_seen_standard_error):
        assert f"{value:.6g}" in told
    assert "resampled" not in section(text, "Convergence")
    assert "the study&#39;s own Kriging model" in section(text, "Convergence")
    luck = section(text, "How optimistic is it")
    assert "According to the Kriging model" in luck
    assert "oversearching(search, X, y, outer=5)" in luck
    # intervals, convergence, left-out values, importance, two effects, a slice, parallel coordinates, evaluations, timeline
    assert len(page.all("svg")) == 10
    tables = [" ".join(entry.split()) for tag, entry in page.texts if tag == "caption"]
    assert "Sobol indices, the most important parameter first" in tables


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_study_with_few_trials_says_so(n):
    study = Study(SQUARE, "random", 0)
    if n:
        study.run(bowl, n_trials=n)
    text, page = rendered(study)
    assert headings(page) == (SECTIONS if n else [SECTIONS[0], *SECTIONS[-2:]])
    assert ("No trial has succeeded yet" in text) == (n == 0)
    assert ("a model needs at least 8" in text) == (n > 0)


def test_a_study_that_runs_and_has_only_failed_says_both(no_pictures):
    study = Study(SQUARE, "random", 0).run(lambda p: 1 / 0, n_trials=3, max_failures=None)
    study.ask()
    text, _ = rendered(study)
    assert "1 trial had no result when this report was made" in text
    assert "No trial has succeeded yet" in text
    assert "3 of 3 finished: 0 succeeded, 3 failed, 1 without a result yet" in text
    assert "ZeroDivisionError: division by zero" in section(text, "Trials")


def test_failures_are_grouped_and_listed():
    def objective(p):
        if p["x"] > 0:
            raise ValueError("too large")
        return float("nan") if p["y"] > 0.5 else bowl(p)

    study, beside = (Study(SQUARE, "random", seed).run(objective, n_trials=30) for seed in (0, 1))
    text, _ = rendered(study, beside)
    assert "random search, median" not in text  # a random search is not compared with one
    told = section(text, "Trials")
    told = told[told.index(">Failed trials</h3>") :]
    failed = [t for t in study.trials if t.state == "failed"]
    assert f"{len(failed)} trials of 30 failed" in told
    for reason in {t.reason for t in failed}:
        numbers = [str(t.number) for t in failed if t.reason == reason]
        assert f'<td class="n">{len(numbers)}</td><td>{", ".join(numbers)}</td>' in told
    assert told.count("<td>failed</td>") == len(failed)
    assert "failed trial" in section(text, "What matters")


def test_a_conditional_space_with_categories():
    space = [
        {"kernel": ["rbf"], "C": loguniform(0.01, 100), "gamma": loguniform(1e-3, 10)},
        {"kernel": ["poly"], "C": loguniform(0.01, 100), "degree": randint(2, 6), "coef0": [True, False]},
    ]
    study = Study(space, "random", 0, direction="maximize").run(
        lambda p: -(np.log10(p["C"]) ** 2) - p.get("degree", 3) + len(p["kernel"]), n_trials=30
    )
    text, _ = rendered(study)
    tuned = section(text, "Settings, times and versions")
    assert '<th scope="row">kernel</th><td>category</td><td>rbf, poly</td><td>uniform</td><td>all</td>' in tuned
    assert '<th scope="row">degree</th><td>integer</td><td>2 to 5</td><td>uniform</td><td>poly</td>' in tuned
    assert "A conditional parameter is averaged over the configurations" in section(text, "What matters")
    assert "a gap where a parameter does not exist" in section(text, "What matters")


def test_several_objectives_have_a_front_and_their_own_effects():
    directions = {"error": "minimize", "gain": "maximize"}
    study = Study(SQUARE, "random", 0, direction=directions)
    study.run(lambda p: {"values": [bowl(p), p["x"]]}, n_trials=20)
    text, page = rendered(study)
    assert headings(page) == [SECTIONS[0], "Which trials to choose from", *SECTIONS[2:]]
    assert [h[1] for h in page.headings if h[0] == 3] == ["On error", "On gain"]
    front = section(text, "Which trials to choose from")
    assert front.count("<tr") == 1 + len(study.pareto())
    assert "hypervolume" in section(text, "Convergence")
    rendered(study, Study(SQUARE, "random", 1, direction=directions).run(lambda p: {"values": [1.0, 1.0]}, n_trials=3))
    three = Study(SQUARE, "random", 0, direction=("minimize",) * 3)
    rendered(three.run(lambda p: {"values": [bowl(p), p["x"], -p["y"]]}, n_trials=12))


def test_many_parameters_show_the_most_important():
    names = [f"preprocessing__columntransformer__numeric__scaler__p{k}" for k in range(13)]
    study = Study(dict.fromkeys(names, uniform(0, 1)), "random", 0)
    study.run(lambda p: 5 * p[names[12]] + p[names[11]] ** 2, n_trials=30)
    text, _ = rendered(study)
    for end in ("p11", "p12"):  # short names
        assert len(re.findall(rf">{end}</text>", text)) >= 3
    assert "The 12 most important parameters of 13" in section(text, "What matters")
    assert "continued" in section(text, "Trials")


@pytest.fixture(scope="module")
def svc():
    X, y = load_iris(return_X_y=True)
    space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    return SpotSearchCV(SVC(), space, n_iter=12, cv=4, random_state=0).fit(X, y)


def test_fold_scores_tell_of_the_optimism_for_free(svc, no_pictures):
    text, _ = rendered(svc.study_)
    luck = section(text, "How optimistic is it")
    found = optimism_of_trials(svc.study_.trials)
    assert found.how == "folds"
    assert "Tibshirani" in luck
    assert found.summary().split(";")[0] in luck
    assert "This estimate takes no further evaluations, and is rough" in luck
    repeat = section(text, "Settings, times and versions")
    assert '<th scope="row">data</th>' in repeat
    assert '<th scope="row">estimator</th><td>SVC()</td>' in repeat


def test_what_was_found_out_comes_before_what_is_free(svc, no_pictures):
    found = optimism_of_trials(svc.study_.trials).to_dict() | {"how": "nested", "value": 0.12345}
    study = RecordedCopy(svc.study_)
    study.findings = Findings({"oversearching": found, "stop": {"sentence": "The search stopped.", "n_trials": 12}})
    text, page = rendered(study)
    luck = section(text, "How optimistic is it")
    assert "0.123 (95 % interval" in luck
    assert "This estimate takes no further" not in luck
    assert [h[1] for h in page.headings if h[0] == 3] == ["Whether to continue"]
    assert ">Whether to continue</h3>" in section(text, "Convergence")
    study.findings = Findings({"oversearching": {"how": "magic"}})
    assert "The finding on oversearching cannot be read" in study_page(study).html()
    study.findings = Findings({"oversearching": found | {"how": "repeats"}})
    assert "is a method of version 0.2.0" in study_page(study).html()


class RecordedCopy(StudyResults):
    """A study's results with findings of the test's own."""

    findings = Findings()  # a property of the class it is a copy of

    def __init__(self, study):
        super().__init__(study.ledger, study.space, study.objectives, study.noise)


def test_a_score_on_rows_that_the_search_never_sees_is_shown_beside(no_pictures):
    study = Study(SQUARE, "random", 0).run(lambda p: {"value": bowl(p), "test_error": bowl(p) + 0.25}, n_trials=12)
    text, _ = rendered(study)
    assert "the value is too good by 0.25" in section(text, "How optimistic is it")
    other = Study(SQUARE, "random", 0, direction="maximize").run(
        lambda p: {"value": -bowl(p), "test_score": -bowl(p) + 0.5}, n_trials=12
    )
    assert "the value is not too good" in section(study_page(other).html(), "How optimistic is it")


def test_a_search_that_learns_beats_the_given_random_search():
    study, beside = (Study(SQUARE, search, 0, noise=False).run(bowl, n_trials=20) for search in ("kriging", "random"))
    text = " ".join(section(rendered(study, beside)[0], "Convergence").split())
    assert "The search did better than random search does in nine of ten cases: with as many trials" in text
    assert "predicted by two Kriging models of the 20 trials and the 20 of the random search" in text
    assert "the 20 values of the baseline, a random search, resampled" in text
    assert "baseline, best so far" in text


@pytest.mark.parametrize(
    ("space", "options", "n", "message"),
    [
        ({"x": uniform(-1, 2), "z": uniform(-1, 2)}, {}, 2, "a different search space: y, z differ"),
        ([SQUARE, SQUARE | {"z": ["a", "b"]}], {}, 2, "a different search space: the numbers of dictionaries, 2 and 1, differ"),
        (SQUARE, {"context": {"data": "b"}}, 2, "different data .b; the study has a.; use a study with the same data"),
        (SQUARE, {"direction": "maximize"}, 2, "baseline has the direction 'maximize', and the study 'minimize'"),
        (SQUARE, {}, 0, "baseline has no successful trial"),
    ],
)
def test_a_baseline_of_something_else_is_refused(space, options, n, message):
    study = Study(SQUARE, "random", 0, context={"data": "a"}).run(bowl, n_trials=2)
    beside = Study(space, "random", 0, **options)
    with pytest.raises(ArgumentError, match=message):
        study_page(study, beside.run(lambda p: 1.0, n_trials=n) if n else beside)
    with pytest.raises(ArgumentError, match="baseline='random' is not a study"):
        study_page(study, "random")


@pytest.mark.filterwarnings("error")
def test_names_in_any_script_and_values_of_any_size():
    space = {"\u65e5\u672c\u8a9e \U0001f600": uniform(0, 1), "<b>\u03bb$x_1$": ["<i>", "$a$", "&amp;"]}
    study = Study(space, "random", 0).run(lambda p: 1e300 * next(iter(p.values())), n_trials=15)
    text, _ = rendered(study)
    assert "\u65e5\u672c\u8a9e \U0001f600: from " in text
    table = section(text, "What matters")
    assert '<td class="n">nan' not in table
    assert table.count("<svg") == 7


@pytest.mark.parametrize(("values", "band"), [([f"n{k}" for k in range(12)], False), (list(range(12)), True)])
def test_the_only_parameter_is_drawn_as_what_it_is(values, band):
    study = Study({"kernel": values}, "random", 0).run(lambda p: float(str(p["kernel"]).strip("n")) % 5, n_trials=12)
    text, _ = rendered(study)
    assert "averaged over all other parameters" not in text
    places = text[text.index("Main effects.") : text.index("The model along kernel")]
    assert ("FillBetween" in places) == band  # nothing is drawn between categories


def test_a_report_from_the_record_is_that_of_the_study_to_the_byte_and_changes_nothing(tmp_path):
    path = tmp_path / "run.db"
    study, twin = noisy_study(path=path), noisy_study()
    before = study.frame()
    first = study.report(tmp_path / "first.html", tables=tmp_path / "tables").read_bytes()
    pd.testing.assert_frame_equal(study.frame(), before)
    assert load_study(path).report(tmp_path / "second.html").read_bytes() == first
    assert study.ask().point == twin.ask().point
    files = {file.name.partition("-")[2]: file for file in sorted((tmp_path / "tables").iterdir())}
    trials = pd.read_csv(files["30-trials-their-parameters-and-values.csv"])
    assert trials["value"].tolist() == before["value"].tolist()
    chosen = pd.read_csv(next(file for name, file in files.items() if name.startswith("the-recommended-trial")), index_col=0)
    assert float(chosen.loc["value seen", "best seen"]) == study.best_trial.value
    assert float(chosen.loc["expected value", "recommended"]) == study.recommend().value


@pytest.mark.parametrize(
    ("noise", "n_trials", "said"),
    [
        (
            "auto",
            1,
            "No configuration was evaluated twice, so it is unknown whether another evaluation would give the same value",
        ),
        (True, 1, "The objective was declared noisy; there are too few values"),
        (False, 1, "The objective was declared to be without noise, so another evaluation"),
        ("auto", 12, "No noise was found where a configuration was evaluated again, so another evaluation"),
    ],
)
def test_nothing_is_said_of_noise_that_is_not_known(noise, n_trials, said, no_pictures):
    def value(params):
        return params["x"] + (0.1 * np.random.default_rng(int(1e6 * params["y"])).normal() if n_trials == 1 else 0.0)

    text, _ = rendered(Study(SQUARE, seed=0, noise=noise).run(value, n_trials=n_trials))
    assert said in text
    assert ("no noise was found between evaluations" in text) == (n_trials == 12)
    assert ("would give the same value" in text) == (noise is not True)


@pytest.mark.parametrize("search", ["random", "lhs", "kriging"])
def test_a_random_search_is_not_compared_with_random_search(search, no_pictures):
    text, _ = rendered(Study(SQUARE, search, 0, noise=False).run(bowl, n_trials=12))
    assert ("andom search" in section(text, "Convergence")) == (search == "kriging")


def test_a_band_of_one_value_is_left_out(no_pictures):
    study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "kriging", 0, noise=False)
    study.run(lambda p: float(p["x"] + p["y"] > 1.9), n_trials=15)  # nearly all values are the best one
    said = section(rendered(study)[0], "Convergence")
    assert "in eight of ten cases" not in said


def test_a_plausible_range_that_is_all_of_it_reads_as_words():
    study = Study(SQUARE, "kriging", 0, noise=False).run(lambda p: p["x"] ** 2, n_trials=20)
    rows = plausible_ranges(StudyView(study))[0]
    assert rows["y"] == "the score does not depend on it here"
    assert rows["x"] != rows["y"]


def test_an_interval_of_everything_is_left_out():
    assert "%" not in AgainstRandom(0.004, 0.999, "Why").sentence()
    assert "in 20 % to 100 % of cases" in AgainstRandom(0.2, 1.0, "Why").sentence()
