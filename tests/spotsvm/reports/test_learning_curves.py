import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.reports.html.page import Picture
from spotsvm.reports.learning_curves import learning_curves_section
from spotsvm.reports.report import study_page
from spotsvm.reports.view import StudyView


def learns(params, trial):
    for step in range(1, 11):
        value = params["x"] + 1 / step
        trial.report(step, value)
        if trial.should_stop():
            break
    return value


@pytest.fixture(scope="module")
def study():
    return Study({"x": uniform(0, 1)}, "lhs", 0).run(learns, 14, early_stopping="median")


def test_the_section_counts_the_trials_and_the_steps(study):
    text, picture = learning_curves_section(StudyView(study)).parts
    stopped = [t for t in study.trials if t.state == "stopped"]
    saved = sum(10 - len(t.steps) for t in stopped)
    assert text.startswith(f"{len(stopped)} trials of 14 ended early")
    assert f"saved {saved} reported steps, about {round(saved / 1.4)} % of" in text
    (ax,) = picture.figure.axes
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
    wanted = sorted(t.steps[-1] for t in study.trials if len(t.steps) > 1)
    assert np.allclose(sorted((line.get_xdata()[-1], line.get_ydata()[-1]) for line in curves), wanted)
    assert picture.alt == f"14 curves, of which {len(stopped)} end early."


def test_the_page_has_it_after_the_convergence(study):
    headings = [section.heading for section in study_page(study).sections]
    assert headings.index("Learning curves") == headings.index("Convergence") + 1
    assert "Failed trials" not in headings
    assert "stopped early" in study_page(study).html()


def test_it_is_left_out_where_nothing_was_reported():
    study = Study({"x": uniform(0, 1)}, "random", 0).run(lambda p: p["x"], 5)
    assert learning_curves_section(StudyView(study)) is None


def test_without_a_stopped_trial_it_says_so():
    study = Study({"x": uniform(0, 1)}, "random", 0).run(learns, 5, early_stopping=None)
    text, picture = learning_curves_section(StudyView(study)).parts
    assert text == "No trial was stopped early."
    assert isinstance(picture, Picture)
