"""A printed number has the sign of the attribute's value, or its line names the loss, without "neg_"."""

import re
from html import unescape

import numpy as np
import pytest
from sklearn.metrics import get_scorer_names
from sklearn.naive_bayes import GaussianNB

from spotsvm import ExpectedScore, SpotSearchCV, TunedSVC, TunedSVR, expected_score
from spotsvm.luck.difference import Difference, TuningGain
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.fold_bias import optimism_of_folds
from spotsvm.luck.verdict import Rival, Verdict
from spotsvm.search_cv.fitted import notebook_html as results_html
from spotsvm.trials.metrics import ScoreUnit

NUMBER = re.compile(r"(?<![\w.])[-+]?\d*\.\d+")


def check(line, metric, *values):
    """Check each number of a line that is the size of one of these values."""
    unit = ScoreUnit(metric)
    numbers = [float(number) for number in NUMBER.findall(line)]
    of_values = [n for n in numbers if any(np.isclose(abs(n), abs(v), rtol=0.01) for v in values)]
    assert of_values, line
    for number in of_values:
        same_sign = any(np.isclose(number, value, rtol=0.01) for value in values)
        assert same_sign or unit.title in line, line
    if any(number > 0 for number in of_values):
        assert "neg_" not in line, line
        assert "negative" not in line.replace("negative_likelihood", "").replace("negative likelihood", ""), line


def a_score(metric):
    """A value of a metric, and an interval of it."""
    return (-0.143, (-0.171, -0.119)) if metric.startswith("neg_") else (0.143, (0.119, 0.171))


@pytest.mark.parametrize("metric", get_scorer_names())
def test_estimates_differences_verdicts_and_optimism(metric):
    value, interval = a_score(metric)
    numbers = (value, *interval)
    for one in (Estimate(value, interval, 0.01, metric=metric), ExpectedScore(value, interval, 0.01, metric=metric)):
        check(str(one), metric, *numbers)
        check(f"{one}", metric, *numbers)
    gain = 0.0321, (0.0123, 0.0456)
    for one in (Difference(*gain, 0.01, metric=metric), TuningGain(*gain, 0.01, metric=metric)):
        check(str(one), metric, gain[0], *gain[1])
    of_rows = {"out_of_fold": 3 * value, "out_of_fold_error": 0.01, "held_out": value, "held_out_error": 0.01}
    expected = ExpectedScore(value, interval, 0.01, metric=metric, **of_rows)
    rivals = tuple(
        Rival(code, code, value, 0.01, Difference(-0.0321, (-0.0456, -0.0123), metric=metric), 1.0)
        for code in ("constant", "forest")
    )
    for decision, recommended in (("helped", "tuned"), ("no difference seen", "tuned"), ("did not help", "default")):
        side = {"helped": gain, "no difference seen": (0.0321, (-0.0123, 0.0456)), "did not help": (-0.0321, (-0.0456, -0.0123))}
        rows = {"out of fold": 150, "held out": 50}
        found = TuningGain(*side[decision], 0.01, metric=metric, rows=rows)
        verdict = Verdict(metric, found, recommended, None, {}, expected, expected, rivals=rivals)
        assert verdict.decision == decision
        check(verdict.sentence, metric, *numbers, *(sign * number for number in (gain[0], *gain[1]) for sign in (1, -1)))
        check(verdict.expectation, metric, *numbers)
        for line in verdict.warnings:
            check(line, metric, *numbers, 3 * value, 0.0321, 0.0123, 0.0456)
    sign = np.sign(value)
    folds = sign * np.array([[0.143, 0.153, 0.133], [0.163, 0.123, 0.143]])
    found = optimism_of_folds(folds, metric=metric)
    check(found.summary().splitlines()[0], metric, found.tuned_score, found.expected_score.value)
    check(str(found.expected_score), metric, found.expected_score.value)


X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        TunedSVC(budget=1, scoring="neg_log_loss", random_state=0),
        TunedSVR(budget=1, scoring="neg_mean_absolute_error", random_state=0),
    ],
)
def test_pages_and_methods_of_tuned_models(model, tmp_path):
    model.fit(X, Y if isinstance(model, TunedSVC) else X[:, 0])
    title = ScoreUnit(model.scoring).title
    value = model.expected_score_.value
    assert value < 0
    assert str(model.expected_score_).startswith(f"{title} {-value:.4g}"[: len(title) + 4])
    assert f"{title} of the tuned model less that of the default is" in str(model.verdict_)
    section = model.methods_section()
    page = unescape(model.report(tmp_path / "page.html").read_text())
    assert f"The {title} to expect on new rows is {-value:.4g}"[: 28 + len(title)] in section.markdown()
    for text in (page, section.markdown(), section.latex()):
        assert not re.search(r"neg_\w+\W{1,3}\d", text)
    assert f"score is the {title} of the candidate alone on all judged rows, with a minus, as that of a loss" in page


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_lines_notebooks_and_estimates_of_searches(scoring, capsys):

    search = SpotSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, n_iter=2, scoring=scoring, cv=3, refit="average", verbose=1
    )
    search.fit(X, Y)
    title, best = ScoreUnit(scoring).title, search.best_score_
    for line in capsys.readouterr().out.splitlines():
        check(line, scoring, *search.cv_results_["mean_test_score"])
    assert f"{-best:.4g} ({title}; smaller is better, 3 folds)" in results_html(search)
    for found in (search.expected_score_, expected_score(search, X, Y)):
        check(str(found), scoring, found.value, *found.interval)
        assert str(found).startswith(title)
    text = search.methods_section().markdown()
    assert not re.search(r"neg_\w+\W{1,3}\d", text)
