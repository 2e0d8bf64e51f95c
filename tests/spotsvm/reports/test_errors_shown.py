"""Searches for a small error: their pages, pictures and lines show it in its own unit, and scikit-learn's numbers stay."""

import io
import re
from html import unescape

import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV
from spotsvm.reports.report import study_page
from spotsvm.reports.view import StudyView
from spotsvm.search_cv.fitted import notebook_html as results_html
from spotsvm.study.callbacks import Progress
from spotsvm.trials.metrics import ScoreUnit

pytestmark = pytest.mark.usefixtures("no_pictures")
X, Y = make_regression(60, 3, noise=10.0, random_state=0)
SPACE = {"C": loguniform(1.0, 1000.0), "gamma": loguniform(1e-3, 1.0)}
#: numbers with a minus that is no hyphen
NEGATIVE = re.compile(r"(?<![\w.)])[-\u2212]\d+(?:\.\d+)?")
NAMES = {"neg_root_mean_squared_error": "RMSE", "neg_mean_absolute_error": "mean absolute error"}


def search(scoring, **options):
    return SpotSearchCV(SVR(), SPACE, n_iter=9, cv=3, random_state=0, **options | {"scoring": scoring})


@pytest.fixture(scope="module", params=NAMES)
def fitted(request):
    return search(request.param).fit(X, Y)


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", html)))


def without_errors_below_0(html, fitted):
    """Return the text of a page after a check that no negative number in it is as large as an error of the search."""
    table = fitted.study_.folds()
    errors = -table["test_score"]
    assert errors.min() > 0
    text = text_of(html)
    assert [n for n in NEGATIVE.findall(text) if errors.min() <= abs(float(n.replace("\u2212", "-"))) <= errors.max()] == []
    return text


def pictures(part):
    for one in getattr(part, "parts", ()):
        yield from pictures(one)
    if hasattr(part, "figure"):
        yield from (part.figure, *part.others)


def test_a_page_has_the_error_in_its_own_unit(fitted):
    name, page = NAMES[fitted.scoring], study_page(fitted.study_)
    text = without_errors_below_0(page.html(), fitted)
    assert re.search(rf"Score\s+{name}; smaller is better", text)
    assert "larger is better" not in text
    labels = {ax.get_ylabel() for section in page.sections for figure in pictures(section) for ax in figure.axes}
    assert {name, f"{name} (smaller is better)"} <= labels
    best = -fitted.cv_results_["mean_test_score"].max()
    assert f"The best value is {best:.6g}, first reached" in text
    assert re.search(rf"The tuned {name} of [\d.]+ (shows no optimism|is probably [\d.]+ .*too low)", text)


def test_the_best_is_the_smallest_and_nothing_else_differs(fitted):
    view, study = StudyView(fitted.study_), fitted.study_
    assert view.values().tolist() == (-study.frame()["value"]).tolist()
    assert view.recommended.number == study.recommend().number
    assert view.recommended.best_seen_value == view.values().min() == -study.best_value
    assert (view.recommended.value, view.recommended.params) == (-study.recommend().value, study.recommend().params)
    ring = next(line for line in study.plot_convergence().lines if line.get_label() == "recommended")
    assert ring.get_ydata()[0] == -study.trials[study.recommend().number].value


def test_scikit_learns_numbers_stay(fitted):
    assert fitted.best_score_ < 0
    assert (fitted.cv_results_["mean_test_score"] < 0).all()
    assert (fitted.study_.frame()["value"] < 0).all()
    assert (fitted.study_.folds()["test_score"] < 0).all()
    assert (fitted.study_.importance()["lowest"] < 0).all()


def test_a_notebook_shows_the_error(fitted):
    # scikit-learn's own diagram lists the attributes as they are
    html = results_html(fitted) + fitted.study_._repr_html_()
    assert fitted.verdict_.sentence in html  # whose difference has a sign
    text = without_errors_below_0(html.replace(fitted.verdict_.sentence, ""), fitted)
    assert f"{-fitted.best_score_:.4g} ({NAMES[fitted.scoring]}; smaller is better, 3 folds)" in text


def test_lines_of_a_run_and_of_its_status_show_the_error(capsys, monkeypatch, tmp_path):
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    path = tmp_path / "search.db"
    found = search("neg_root_mean_squared_error", verbose=1, callback=Progress(9), path=path).fit(X, Y)
    values = [-t.value for t in found.study_.trials if t.sweep in (None, t.number)]
    assert re.findall(r"ok RMSE=(\S+)", capsys.readouterr().out) == [str(value) for value in values]
    shown = [float(value) for value in re.findall(r"best RMSE (\S+),?", stderr.getvalue().replace(",", " "))]
    assert shown[-1] == pytest.approx(min(values), rel=1e-5)
    assert shown == sorted(shown, reverse=True)
    assert f"best seen  RMSE {min(values):.6g} in trial" in re.sub(
        r" {2,}", "  ", CliRunner().invoke(main, ["status", str(path)]).output
    )


@pytest.mark.parametrize(
    ("scoring", "refit", "name", "folds"),
    [
        (make_scorer(mean_absolute_error, greater_is_better=False), True, "mean absolute error", ["fold 1"]),
        ({"rmse": "neg_root_mean_squared_error", "r2": "r2"}, "rmse", "RMSE", ["fold 1 rmse", "fold 1 R2"]),
        (["neg_max_error", "r2"], "r2", "value", ["fold 1 max error", "fold 1 R2"]),
    ],
)
def test_scorers_and_several_metrics(scoring, refit, name, folds):
    found = search(scoring, refit=refit).fit(X, Y)
    view = StudyView(found.study_)
    assert view.objective_name(0) == name
    sign = 1.0 if name == "value" else -1.0
    assert view.values().tolist() == [sign * t.value for t in found.study_.trials]
    text = text_of(study_page(found.study_).html())
    assert all(fold in text for fold in folds)
    errors = [key for key in view.trials[0].extra if key.startswith("split") and not key.endswith("_r2")]
    assert len(errors) == 3
    assert all(t.extra[key] > 0 for t in view.trials for key in errors)
    assert all(
        view.trials[k].extra[key] == t.extra[key] for k, t in enumerate(found.study_.trials) for key in t.extra if "r2" in key
    )


def test_a_front_has_errors_in_their_own_unit():
    scoring = ["neg_root_mean_squared_error", "r2"]
    found = search(scoring, search="nsga2", refit=False).fit(X, Y)
    view = StudyView(found.study_)
    assert view.study.objectives.labels == ("RMSE (smaller is better)", "r2 (larger is better)")
    assert [t.number for t in view.front] == [t.number for t in found.study_.pareto()]
    ax = found.study_.plot_pareto()
    assert (ax.get_xlabel(), ax.get_xlim()[1] > 0) == ("RMSE (smaller is better)", True)
    text = text_of(study_page(found.study_).html())
    errors = -found.study_.frame()["value_neg_root_mean_squared_error"]
    assert not [n for n in NEGATIVE.findall(text) if errors.min() <= -float(n.replace("\u2212", "-")) <= errors.max()]


def test_a_baseline_is_turned_with_its_study():
    found = search("neg_root_mean_squared_error").fit(X, Y)
    base = search("neg_root_mean_squared_error", search="random").fit(X, Y)
    ax = found.study_.plot_convergence(base.study_)
    line = next(line for line in ax.lines if line.get_label() == "baseline, best so far")
    assert line.get_ydata()[-1] == -base.study_.best_value
    assert without_errors_below_0(study_page(found.study_, base.study_).html(), found)


@pytest.mark.parametrize("scoring", ["accuracy", None])
def test_a_page_of_accuracies_is_as_it_was(scoring, monkeypatch):
    found = SpotSearchCV(SVC(), SPACE, n_iter=9, cv=3, scoring=scoring, random_state=0).fit(X, Y > 0)
    page = study_page(found.study_).html()
    assert "larger is better" in page
    for module in ("view", "convergence"):
        monkeypatch.setattr(f"spotsvm.reports.{module}.in_own_unit", lambda study, of=None: study)
    assert study_page(found.study_).html() == page


def test_the_unit_survives_a_clone_and_a_record(tmp_path):
    from spotsvm import load_study

    path = tmp_path / "search.db"
    found = clone(search("neg_mean_absolute_error", path=path)).fit(X, Y)
    view = StudyView(load_study(path))
    assert view.unit == ScoreUnit("neg_mean_absolute_error")
    assert view.values().min() == -found.study_.best_value
