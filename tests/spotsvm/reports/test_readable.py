"""What a reader sees: no impossible numbers, readable headings, and columns without gaps."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import loguniform, uniform

from spotsvm import Study
from spotsvm.reports.convergence import convergence_section
from spotsvm.reports.html.page import Highlight, Page, Picture, Section, Table
from spotsvm.reports.report import study_page
from spotsvm.reports.view import StudyView
from tests.spotsvm.reports.pages import check_page


def accuracy_like(study, n_trials):
    """Run a study whose scores are close to 1 but for a steep part, so that an interpolating model goes beyond 1."""
    folds = [f"split{k}_test_accuracy" for k in range(2)]

    def objective(p):
        score = 0.98 if p["x"] > 0.3 else 0.4
        score += 0.02 * p["y"]
        return {"value": score, **dict.fromkeys(folds, score)}

    return study.run(objective, n_trials=n_trials)


def band_of(study):
    texts = [part for part in convergence_section(StudyView(study), None).parts if isinstance(part, str)]
    return [text for text in texts if "random search would reach" in text]


def test_random_search_is_not_said_to_reach_what_no_score_can_be():
    study = accuracy_like(Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "cmaes", 0, direction="maximize", noise=False), 12)
    (text,) = band_of(study)
    numbers = [float(number) for number in re.findall(r"\d\.\d+", text)]
    assert len(numbers) == 3
    assert max(numbers) <= study.best_trial.value + 5e-5
    assert "cannot exceed the best value seen" in text
    view = StudyView(study)
    assert view.possible(np.array([-0.1, 0.5, 1.2])).tolist() == [0.0, 0.5, 1.0]


def test_a_search_that_began_with_the_best_configuration_has_no_band():
    start = {"x": 0.9, "y": 1.0}
    space = {"x": uniform(0, 1), "y": uniform(0, 1)}
    study = accuracy_like(Study(space, "cmaes", 0, direction="maximize", noise=False, start=start), 12)
    assert study.best_trial.number == 0
    assert band_of(study) == []
    assert "No trial is better than the starting points" in study_page(study).html()


def test_scores_of_one_kind_have_the_same_decimals():
    frame = pd.DataFrame({"machine": ["a", "b"], "score": [0.98222, 0.9], "gap": [0.008889, np.nan], "n": [3, 4]})
    rows = [cells for _, cells in Table(frame, "x", one_kind=True).rows]
    assert rows == [["a", "0.9822", "0.0089", "3"], ["b", "0.9000", "–", "4"]]
    large = pd.DataFrame({"score": [-52.4812, 0.5], "gap": [7.715, -0.001]})
    assert [cells for _, cells in Table(large, "x", one_kind=True).rows] == [["-52.481", "7.715"], ["0.500", "-0.001"]]
    assert [cells for _, cells in Table(large * 1e-9, "x", one_kind=True).rows][0][0] == "-5.248e-08"


def test_narrow_parts_fill_two_columns_evenly():
    picture = Picture(Figure(figsize=(4.4, 3.3)), "p", "a picture")
    table = Table(pd.DataFrame({"a": range(3)}), "t")
    wide = Picture(Figure(figsize=(3, 2)), "w", "panels", others=[Figure(figsize=(3, 2))])
    parts = ["words", Highlight("more"), picture, table, table, wide, table]
    sides = [side for side, _ in Section("s", parts).cells]
    assert sides == ["left", "right", "left", "left", "whole", "left"]
    assert Section("s", parts).cells[0][1] == parts[:2]
    long = [Highlight("word " * 300), Highlight("and more"), Highlight("and more")]
    assert Section("s", long).cells == [("left", long[:1]), ("right", long[1:])]


def test_a_folded_table_is_complete_without_the_script():
    table = Table(pd.DataFrame({"a": [1.5]}), "All of it", folded=True)
    text = Page("p", [Section("s", [table])]).html()
    check_page(text)
    assert "<details><summary>All of it</summary>" in text
    assert "1.5" in text.partition("<details>")[2].partition("</details>")[0]


def test_headings_have_no_keys():
    study = accuracy_like(Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "random", 0, direction="maximize", noise=False), 9)
    text = study_page(study).html()
    tables = [table for table in re.findall(r"<table class=\"trials\">.*?</table>", text, re.DOTALL)]
    first, further = ([unescape(h) for h in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)] for table in tables)
    assert first == ["number", "value", "x", "y"]
    assert further[:3] == ["number", "fold 1 accuracy", "fold 2 accuracy"]
    assert not [heading for heading in further if "_" in heading]
    assert 'title="split0_test_accuracy"' in text
    several = Study({"x": uniform(0, 1)}, "random", 0, direction={"cost": "minimize", "gain": "maximize"})
    text = study_page(several.run(lambda p: (p["x"], p["x"]), n_trials=5)).html()
    assert "value_cost" not in text.replace('title="value_cost"', "")


def test_the_choice_between_dictionaries_has_its_short_name():
    space = [{"svc__kernel": ["rbf"], "svc__gamma": loguniform(0.01, 1)}, {"svc__kernel": ["linear"]}]
    study = Study(space, "random", 0, noise=False).run(lambda p: p.get("svc__gamma", 0.5), n_trials=15)
    text = study_page(study).html()
    drawn = re.findall(r"<text[^>]*>(.*?)</text>", text)
    assert "kernel" in drawn
    assert "svc__kernel" not in drawn


@pytest.fixture(scope="module")
def bounded():
    study = Study({"x": uniform(0, 1)}, "random", 0, noise=False, constraints={"load": ("<=", 0.6)})
    return study.run(lambda p: {"value": -p["x"], "load": p["x"]}, n_trials=15)


def test_bounds_that_do_not_hold_are_said_and_drawn(bounded):
    out = sum(t.params["x"] > 0.6 for t in bounded.trials)
    assert 0 < out < 15
    text = study_page(bounded).html()
    assert f"is the best seen of those that hold the bounds ({out} trials of 15 did not)" in unescape(text)
    assert "out of bounds" in re.findall(r"<text[^>]*>(.*?)</text>", text)
    assert '<th scope="col" class="n" title="extra_load">load</th>' not in text
    (first, *_) = re.findall(r"<table class=\"trials\">.*?</table>", text, re.DOTALL)
    assert [unescape(h) for h in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', first)] == ["number", "value", "load", "x"]
