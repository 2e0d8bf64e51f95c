"""What notebooks show of a search: the diagram of scikit-learn, and the results once it is fitted."""

import base64
import re
from copy import copy

import pytest
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV
from spotsvm.errors import NoCompletedTrialError

X, Y = load_iris(return_X_y=True)
SPACE = {"svc__C": loguniform(2**-5, 2**15), "svc__gamma": loguniform(2**-15, 2**3)}


def texts(html):
    """Return the rows of the table of results, by their first cells."""
    found = re.findall(r"<tr[^>]*><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", html.partition("spotsvm-results")[2])
    return dict(found)


@pytest.fixture(scope="module")
def fitted():
    return SpotSearchCV(make_pipeline(StandardScaler(), SVC()), SPACE, n_iter=6, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def html(fitted):
    return fitted._repr_html_()


def test_the_diagram_comes_first_and_the_results_once_there_are_any(fitted, html):
    assert "spotsvm-results" not in clone(fitted)._repr_html_()
    assert html.index("<div>StandardScaler</div>") < html.index("spotsvm-results")
    assert html.count("spotsvm-results") == 1
    assert fitted._repr_mimebundle_()["text/html"].partition("spotsvm-results")[2] == html.partition("spotsvm-results")[2]
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()
    outer = make_pipeline(StandardScaler(), clone(fitted))._repr_html_()
    assert "spotsvm-results" not in outer


def test_the_results(fitted, html):
    found = texts(html)
    scores = [f"expected accuracy{of}" for of in ("", " of the default", " of a constant")]
    assert list(found) == ["best parameters", "mean score", "trials", *scores, "verdict", "time"]
    C, gamma = (fitted.best_params_[name] for name in SPACE)
    assert found["best parameters"] == f"svc__C = {C:.4g}, svc__gamma = {gamma:.4g}"
    assert found["mean score"] == f"{fitted.best_score_:.4g} (accuracy, 5 folds)"
    assert found["trials"].startswith(f"6 of 6 trials finished, with {len(fitted.study_.trials)} values in their sweeps")


def test_the_picture_needs_nothing_else_and_texts_have_the_colours_of_the_page(html):
    html = html.partition("spotsvm-results")[2]
    [code] = re.findall(r'<img alt="[^"]+" src="data:image/png;base64,([^"]+)"', html)
    assert base64.b64decode(code, validate=True).startswith(b"\x89PNG")
    assert "http" not in html
    assert set(re.findall(r"(?:color|background): (\w+)", html)) == {"inherit", "none"}


def test_texts_are_no_markup(fitted):
    one = copy(fitted)
    one.best_params_ = {"<b>": "<script>"} | {f"p{k}": k for k in range(30)}
    shown = texts(one._repr_html_())["best parameters"]
    assert shown.startswith("&lt;b&gt; = &lt;script&gt;, p0 = 0, ")
    assert shown.endswith(" and 11 more")


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, {"mean score": "r2, 3 folds"}),
        ({"refit": False}, {"mean score": "r2, 3 folds"}),
        ({"scoring": "neg_mean_absolute_error"}, {"mean score": "smaller is better, 3 folds)"}),
        ({"scoring": ["r2", "explained_variance"], "refit": "r2"}, {"mean score": "(r2, 3 folds)"}),
        ({"scoring": lambda machine, X, y: machine.score(X, y)}, {"mean score": "(score, 3 folds)"}),
    ],
)
def test_other_searches(options, rows):
    X, y = (part[:60] for part in load_diabetes(return_X_y=True))
    space = {"C": loguniform(1e-1, 1e3)}
    html = SpotSearchCV(SVR(), space, n_iter=4, search="random", cv=3, random_state=0, **options).fit(X, y)._repr_html_()
    found = texts(html)
    assert {name: found[name].count(text) for name, text in rows.items()} == dict.fromkeys(rows, 1)
    assert ("refit" in found["time"]) == (options.get("refit") is not False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_search_without_a_success_is_shown_too():
    search = SpotSearchCV(SVC(), {"C": [-1.0, -2.0]}, n_iter=2, search="random", random_state=0)
    with pytest.raises(NoCompletedTrialError):
        search.fit(X, Y)
    found = texts(search._repr_html_())
    assert found["trials"] == "2 of 2 trials finished, 2 failed"
    assert "<img" not in search._repr_html_()


def test_several_objectives():
    scores = {"r2": "r2", "negative size": lambda machine, X, y: -len(machine.support_)}
    search = SpotSearchCV(SVR(), {"C": loguniform(1e-1, 1e3)}, n_iter=4, search="nsga2", cv=3, random_state=0)
    search.set_params(scoring=scores, refit=False)
    X, y = (part[:60] for part in load_diabetes(return_X_y=True))
    found = texts(search.fit(X, y)._repr_html_())
    assert found["front"] == f"{len(search.study_.pareto())} candidates that no other one dominates"
