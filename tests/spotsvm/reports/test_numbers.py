"""The numbers of a page against those of the study and its findings: each has one source, and there is one recommendation."""

import re
from dataclasses import replace
from html import unescape
from math import nan

import pytest
from scipy.stats import loguniform

from spotsvm import ExpectedScore, Optimism, Study
from spotsvm.common.text import short
from spotsvm.luck.difference import Difference, TuningGain
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.verdict import Rival, Verdict
from spotsvm.reports.report import study_page
from tests.spotsvm.reports.pages import check_page

SPACE = {"table__svc__C": loguniform(2**-5, 2**15), "table__svc__gamma": loguniform(2**-15, 2**3)}
DEFAULT = {"table__svc__C": 1.0, "table__svc__gamma": 0.1}


def by(value, *interval, metric="accuracy"):
    return Difference(value, interval or (nan, nan), 0.02, metric=metric, how="held out")


def gained(value, *interval, metric="accuracy"):
    return TuningGain(
        value, interval, 0.02, metric=metric, rows={"out of fold": 117, "held out": 61},
        on_training_rows=by(value, *interval, metric=metric), on_held_out_rows=by(value, *interval, metric=metric),
    )  # fmt: skip


def expect(value, *interval, metric="accuracy", held_out=nan, error=nan):
    return ExpectedScore(
        value, interval or (nan, nan), 0.02, metric=metric, how="rows", n_rows=178, out_of_fold=value, out_of_fold_error=0.02,
        held_out=held_out, held_out_error=error,
    )  # fmt: skip


def tuned(**changed):
    """Return a study with the verdict of a tuning whose best trial is number 7, and the verdict."""
    study = Study(SPACE, "random", 0, direction="maximize", noise=False)
    study.run(lambda p: 0.7 + 0.01 * len(str(p["table__svc__C"])) % 0.05, n_trials=12)
    seventh = study.trials[7]
    known = {
        "metric": "accuracy", "gain": gained(0.0522, 0.022, 0.081), "recommended": "tuned", "number": 7,
        "params": dict(seventh.params), "default": expect(0.7066, 0.65, 0.76, held_out=0.7011, error=0.0213),
        "tuned": expect(0.7411, 0.7012, 0.7817, held_out=0.7533, error=0.0208), "default_on_folds": 0.7123,
        "tuned_on_folds": seventh.value, "n_better": 3, "n_candidates": 12,
        "rivals": (Rival("constant", "always 'red'", 0.51, 0.05, by(0.2, 0.1, 0.3), 0.001, 0.5, 0.505, 0.5),
                   Rival("forest", "a random forest", 0.74, 0.02, by(0.01, -0.05, 0.07), 0.7)),
    }  # fmt: skip
    verdict = Verdict(**known | changed)
    study.add_finding("verdict", verdict.to_dict())
    rows = [{"partition": k, "tuned": seventh.value, "outer": 0.74, "optimism": seventh.value - 0.74} for k in range(3)]
    expected = Estimate(0.7411, (0.7012, 0.7817), metric="accuracy", how="folds")
    luck = Optimism(
        seventh.value - 0.7411, metric="accuracy", how="folds", tuned_score=seventh.value, expected_score=expected, n_trials=12,
        rows=rows,
    )  # fmt: skip
    study.add_finding("oversearching", luck.to_dict())
    study.add_finding(
        "table", {"File": "wine.csv", "Rows": "178, 61 of them held out", "Target": "cultivar", "Date": "2026-01-02"}
    )
    return study, verdict


def tables(text):
    """Return the tables of a page, as rows of texts, by caption."""
    found = {}
    for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
        caption = unescape(re.search(r"<caption[^>]*>(.*?)</caption>", table, re.DOTALL)[1]).strip()
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL)
        found[caption] = [[unescape(c).strip() for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]
    return found


def one(found, start):
    (rows,) = (rows for caption, rows in found.items() if caption.startswith(start))
    return rows


def test_scores_and_parameters_are_those_of_the_verdict():
    study, verdict = tuned()
    text = study_page(study).html()
    check_page(text)
    found = tables(text)
    head, constant, default, best, forest = one(found, "accuracy on rows that the judged models")
    assert head == ["model", "on the folds", "out of fold", "held-out", "its error", "new rows", "low", "high", "fit, s"]
    assert [constant[0], *map(float, constant[1:6])] == ["always 'red'", 0.5, 0.5, 0.51, 0.05, 0.505]
    assert [forest[0], *map(float, (forest[3], forest[4], forest[8]))] == ["a random forest", 0.74, 0.02, 0.7]
    assert default[0] == "default"
    assert best[0] == "tuned (recommended)"
    for row, on_folds, score in (
        (default, verdict.default_on_folds, verdict.default), (best, verdict.tuned_on_folds, verdict.tuned)
    ):  # fmt: skip
        has = [on_folds, score.out_of_fold, score.held_out, score.held_out_error, score.value, *score.interval]
        assert [float(cell) for cell in row[1:8]] == pytest.approx(has, abs=1e-4)
    _, *parameters = one(found, "The parameters to use")
    assert [row[0] for row in parameters] == ["C", "gamma"]
    assert [float(row[1]) for row in parameters] == pytest.approx(list(study.trials[7].params.values()), rel=1e-5)
    trial = dict((row[0], row[1]) for row in one(found, "The recommended trial is")[1:])
    assert int(trial["trial"]) == study.recommend().number == verdict.number == 7
    assert float(trial["value seen"]) == pytest.approx(study.trials[7].value, rel=1e-5)
    assert verdict.sentence in unescape(text)
    plain = unescape(text)
    assert "Full names: C is table__svc__C, gamma is table__svc__gamma." in plain
    for name, value in {"File": "wine.csv", "Target": "cultivar", "Date": "2026-01-02"}.items():
        assert f"<dt>{name}</dt><dd>{value}</dd>" in text


def test_a_page_recommends_one_trial_and_expects_one_score():
    study, verdict = tuned()
    text = unescape(study_page(study).html())
    assert text.count("On new data expect") + text.count("on new data expect") <= 2
    expected = re.findall(r"on new rows expect accuracy (-?[\d.]+\d)", text, re.IGNORECASE)
    assert {round(float(value), 2) for value in expected} == {round(verdict.expected.value, 2)}
    assert set(re.findall(r"Use trial (\d+)", text)) <= {"7"}
    chosen = set(re.findall(r'<tr data-trial="(\d+)" class="chosen"', text))
    assert chosen == {"7"}
    assert set(re.findall(r"recommended: trial (\d+)", text)) == {"7"}
    for word in ("recommended_number", "judgement", "oversearching'", "The finding '"):
        assert word not in text


def test_held_out_rows_that_contradict_the_others_are_told(no_pictures):
    study, verdict = tuned(tuned=expect(0.7411, 0.7012, 0.7817, held_out=1.0, error=0.0))
    text = unescape(study_page(study).html())
    (sentence,) = verdict.warnings
    assert "12.9 standard errors apart" in sentence
    assert sentence in text
    study, verdict = tuned()
    assert verdict.warnings == ()
    assert "standard errors apart" not in study_page(study).html()


def test_notices_stand_above_the_verdict(no_pictures):
    study, verdict = tuned()
    study.add_finding("notices", {"notices": [["duplicates", "Half of the <rows> are there twice."], ["odd"], 3]})
    text = unescape(study_page(study).html())
    assert text.index("Half of the <rows> are there twice.") < text.index(verdict.sentence)
    assert "Notices" not in text
    study.add_finding("notices", {"notices": "none"})
    check_page(study_page(study).html())


def test_a_default_that_nothing_was_compared_with_is_not_compared_with_itself(no_pictures):
    difference = "The tuned model less the default"
    assert difference in study_page(tuned()[0]).html()
    study, _ = tuned(recommended="default", number=0, compares=False)
    text = study_page(study).html()
    assert difference not in text
    assert [row[0] for row in one(tables(text), "accuracy on rows that the judged models")[1:]] == [
        "always 'red'", "default (recommended)", "a random forest",
    ]  # fmt: skip


def test_an_error_is_drawn_in_its_own_unit(no_pictures):
    error = "neg_root_mean_squared_error"
    scores = {"default": expect(-4.0, -4.3, -3.7, metric=error, held_out=-4.1, error=0.1),
              "tuned": expect(-3.7, -4.0, -3.4, metric=error, held_out=-3.8, error=0.1)}  # fmt: skip
    on_folds = {"default_on_folds": -3.9, "tuned_on_folds": -3.6}
    study, _ = tuned(metric=error, rivals=(), gain=gained(0.3, 0.1, 0.5, metric=error), **scores, **on_folds)
    text = unescape(study_page(study).html())
    rows = one(tables(text), "RMSE on rows that the judged models")
    assert [(row[0], *map(float, row[1:4])) for row in rows[1:]] == [
        ("default", 3.9, 4.0, 4.1),
        ("tuned (recommended)", 3.6, 3.7, 3.8),
    ]
    assert "Points and intervals: default, out of fold 4 (" in text
    assert "tuned, new rows 3.7 (3.4 to 4)" in text
    assert "held-out rows -0.3 (-0.5 to -0.1)" in text
    assert "left of 0 the tuned one is better" in text


def test_the_default_is_recommended_although_it_is_no_trial():
    study, verdict = tuned(recommended="default", number=None, params=DEFAULT, compares=False, n_better=0, default=expect(0.7123))
    text = study_page(study).html()
    check_page(text)
    found = tables(text)
    assert [row[:2] for row in one(found, "The parameters to use")[1:]] == [["C", "1"], ["gamma", "0.1"]]
    assert [row[0] for row in one(found, "accuracy on rows that the judged models")[1:3]] == [
        "always 'red'",
        "default (recommended)",
    ]
    assert not [caption for caption in found if caption.startswith("The recommended trial")]
    assert not re.search(r'<tr[^>]*class="chosen"', text)
    # pictures mark it, but no trial, as the recommended one
    assert set(re.findall(r"<title>(.*?)</title>", text.partition("</head>")[2])) >= {"recommended: 1", "recommended: 0.1"}
    assert "recommended: trial" not in text
    assert "Keep the default SVM" in text
    assert f"expect accuracy {short(verdict.expected.value)} of the default SVM" in " ".join(text.split())


def test_a_study_of_a_function_has_the_same_order_and_its_own_numbers(no_pictures):
    study = Study(SPACE, "random", 0, noise=False).run(lambda p: p["table__svc__gamma"], n_trials=12)
    text = study_page(study).html()
    found = tables(text)
    best = study.best_trial
    assert f"Use trial {best.number}: its value, {short(best.value, 6)}, is the best seen" in unescape(text)
    trial = dict((row[0], row[1]) for row in one(found, "The recommended trial is")[1:])
    assert float(trial["value seen"]) == pytest.approx(best.value, rel=1e-5)
    assert "standard error" not in trial
    _, *parameters = one(found, "The parameters to use")
    for row in parameters:
        value = float(row[1])
        if row[2] == "the score does not depend on it here":
            continue
        low, high = (float(end) for end in row[2].split(" to "))
        assert low <= value * 1.01
        assert value <= high * 1.01


def test_a_verdict_of_another_version_is_not_shown_and_this_is_told(no_pictures):
    study, verdict = tuned()
    study.add_finding("verdict", {"metric": "accuracy", "decision": "helped", "number": 7, "reason": "held-out better"})
    text = unescape(study_page(study).html())
    assert "was written by another version of spotsvm, and is not shown" in text
    assert study.recommend().number == 7
    assert "another version" not in unescape(study_page(tuned()[0]).html())


def test_a_verdict_is_out_of_date_once_the_study_has_further_trials(no_pictures):
    study, verdict = tuned()
    study.add_finding("verdict", verdict.to_dict() | {"of_trials": 12})
    assert study.recommend().number == 7
    assert "Tuning helped" in study_page(study).html()
    study.run(lambda p: 0.9, more=1)
    assert (study.recommend().number, study.recommend().basis) == (12, "observed")
    assert "Tuning helped" not in study_page(study).html()


def test_a_choice_that_is_the_default_is_not_said_to_be_another_one(no_pictures):
    said = "The recommended model is not the one that the search chose by its scores"
    for score, is_said in ((0.7123, True), (None, False)):
        study, verdict = tuned()
        score = verdict.tuned_on_folds if score is None else score
        kept = replace(verdict, recommended="default", default_on_folds=score)
        study.add_finding("verdict", kept.to_dict())
        assert (said in study_page(study).html()) == is_said


def test_the_resamples_of_a_nested_search_have_digits_of_their_own(no_pictures):
    """Columns of scores and parameters have different sizes; the score on the folds is that of the recommended trial."""
    rows = [
        {
            "fold": k,
            "tuned": 0.97 + 0.001 * k,
            "outer": 0.95,
            "optimism": 0.02,
            "params": {"C": 1e3 * k, "gamma": 0.0123 + k / 100},
        }
        for k in range(3)
    ]
    expected = Estimate(0.951, (0.94, 0.96), metric="accuracy", how="nested")
    found = Optimism(
        0.02, (0.01, 0.03), metric="accuracy", how="nested", tuned_score=0.971, expected_score=expected, n_trials=9, rows=rows
    )
    study = Study({"C": (1.0, 1000.0)}, "random", seed=0, direction="maximize", noise=False).run(lambda p: 0.5, n_trials=3)
    study.add_finding("oversearching", found.to_dict())
    text = study_page(study).html()
    assert "0.0123" in text
    assert "0.9720" in text
    assert "Points and intervals: on the folds 0.5; to expect 0.951 (0.94 to 0.96)" in text
