"""A search and a tuned model say the same things in the same words: in the methods section, on the page and in a notebook."""

import re
import warnings
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, Study, TableEncoder, TunedSVC, TunedSVR
from spotsvm.errors import ArgumentError, DataWarning

ROWS, Y = (part[:120] for part in load_breast_cancer(return_X_y=True))
X = pd.DataFrame(ROWS[:, :4], columns=list("abcd")).assign(e="same")
GROUPS = np.arange(120) // 2
DISEASE = [part[:90] for part in load_diabetes(return_X_y=True)]


@pytest.fixture(scope="module")
def both():
    pipeline = make_pipeline(TableEncoder(), StandardScaler(), SVC())
    search = SpotSearchCV(
        pipeline, {"svc__C": [0.3, 1.0, 3.0]}, n_iter=3, cv=GroupKFold(3), refit="average", calibrate=True, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return search.fit(X, Y, groups=GROUPS), TunedSVC(budget=2, cv=3, random_state=0).fit(X, Y, groups=GROUPS)


def sentences(text):
    """The sentences of a text, with a sign in place of each number."""
    return set(re.split(r"(?<=\.) (?=[A-Z])|\n\n", re.sub(r"[-+]?\d+(\.\d+)?", "#", text)))


SHARED = [
    "What is done to the columns was learned from the training rows of each fold alone.",
    "The weight of a configuration is how often it is the best, in half of the draws by the accuracy, and in the other half by "
    "the log loss, when the judged rows are drawn again [@lacoste#].",
    "Probabilities are a sigmoid of the decisions, fitted to those of rows that the models had not seen [@platt#].",
    "The accuracy to expect on new rows is # (# % interval # to #), as judged by # training rows out of fold.",
    "The groups were drawn again with replacement; each of # draws made the choice among the configurations again on the drawn "
    "rows, and was judged on the rows left out [@tsamardinos#].",
    "The means of the draws were corrected by the .# rule [@efron#], and the intervals are by their spread.",
    "They cover the sampling of the rows and the choice, and not rows of another time or place.",
    "About the data: column 'e' is left out: it has the same value in all rows.",
]


def test_the_methods_sections(both):
    search, model = (one.methods_section() for one in both)
    for sentence in SHARED:
        assert sentence in sentences(str(search)) & sentences(str(model))
    for one, section in zip(both, (search, model), strict=True):
        assert one.verdict_.sentence in str(section)
        assert re.search(r"folds of whole groups of cross-validation on 120 rows", str(section))
        assert f"that of the most frequent class {one.constant_score_.value:.4g} (Table 2)" in str(section)
        scores = [one.expected_score_, one.default_score_, one.constant_score_]
        values = section.results.iloc[-3:, section.results.columns.get_loc("low") - 1]
        assert values.tolist() == [score.value for score in scores]
        assert section.results["low"].tolist()[-3:] == [score.interval[0] for score in scores]
    assert str(search).splitlines()[-1] in str(model)  # the versions


def test_the_pages(both, tmp_path):
    folders = [tmp_path / type(one).__name__ for one in both]
    pages = [unescape(one.report(at / "a.html", tables=at).read_text()) for one, at in zip(both, folders, strict=True)]
    for one, at in zip(both, folders, strict=True):
        (scores,) = at.glob("*scores-to-expect*.csv")
        assert pd.read_csv(scores)["accuracy"][0] == one.expected_score_.value
        with pytest.raises(ArgumentError, match="tables=3 is not the path"):
            one.report(at / "a.html", tables=3)
    headings = [re.findall(r"<h2[^>]*>(.*?)</h2>", page) for page in pages]
    shared = ["Result", "Expected score", "Probabilities", "Members", "How to repeat it"]
    for one, page, heading in zip(both, pages, headings, strict=True):
        assert [name for name in heading if name in shared] == shared
        for text in (
            one.verdict_.sentence,
            one.expected_score_.text(),
            "column 'e' is left out: it has the same value in all rows",
        ):
            assert text in page
        assert "Each score is the mean over 200 draws of groups." in page
        assert "Rows by true and predicted class, out of fold" in page
        assert [f">{count}</td>" in page for count in one.out_of_fold_.confusion().to_numpy().ravel()] == [True] * 4
        assert "Made by spotsvm" in page
    assert set(headings[1]) - set(headings[0]) == {"Columns"}
    assert {"Convergence", "What matters", "Trials"} <= set(headings[0]) - set(headings[1])
    assert "How optimistic is it" not in headings[0]  # the expected score has answered it
    assert "Expected score" not in both[0].study_.report(tmp_path / "study.html").read_text()  # a record has no rows


def test_the_notebooks(both):
    lines = [
        dict(re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", one._repr_html_().partition("spotsvm-results")[2]))
        for one in both
    ]
    assert list(lines[0])[:2] == list(lines[1])[:2] == ["best parameters", "model"]
    assert [name for name in lines[0] if name not in ("mean score", "trials")] == list(lines[1])
    for one, shown in zip(both, lines, strict=True):
        assert shown["expected accuracy"] == one.expected_score_.text()
        assert shown["verdict"] == one.verdict_.sentence
        assert unescape(shown["about the data"]) == "column 'e' is left out: it has the same value in all rows"
    assert "spotsvm-results" not in TunedSVC()._repr_html_()


def test_what_is_drawn_together_is_named():
    X, y = DISEASE
    splits = TimeSeriesSplit(3)
    for model in (SpotSearchCV(SVR(), {"C": [1.0, 9.0]}, n_iter=2, cv=splits), TunedSVR(budget=1, cv=splits)):
        assert "Blocks of consecutive rows were drawn again" in str(model.fit(X, y).methods_section())


def test_weights_of_rows_and_classes_are_told():
    weights = np.where(Y == 1, 1.0, 2.0)
    given = {"sample_weight": weights}
    search = SpotSearchCV(SVC(class_weight="balanced"), {"C": [1.0, 9.0]}, n_iter=2, calibrate=True).fit(ROWS, Y, **given)
    model = TunedSVC(budget=1, class_weight="balanced").fit(ROWS, Y, **given)
    texts = [str(one.methods_section()) for one in (search, model)]
    for text in texts:
        assert (
            "The fits have weights of the classes, `'balanced'`. The probabilities are those of rows with these weights." in text
        )
        assert "that of the most frequent class" in text
    assert "Rows count for their weights in the fits." in texts[0]  # no scorer has asked for them
    assert "Rows count for their weights in the fits and in the scores." in texts[1]


def test_how_an_average_of_several_targets_was_made():
    X, y = DISEASE
    search = SpotSearchCV(
        MultiOutputRegressor(Ridge()), {"estimator__alpha": [0.1, 1.0]}, n_iter=2, cv=3, scoring="neg_mean_absolute_error",
        refit="average",
    ).fit(X, np.column_stack([y, -y]))  # fmt: skip
    assert "selected greedily with replacement" in str(search.methods_section())


@pytest.mark.parametrize(
    ("options", "words", "headings"),
    [
        ({"refit": "average", "keep_out_of_fold": False}, "The final model is the weighted average of", {"Members"}),
        ({"refit": lambda results: 0}, "The final model is the configuration with `C` = 0.1, fitted on", {"Expected score"}),
        ({"refit": "1se"}, "The final model is the configuration with `C` =", {"Expected score", "Predictions"}),
        ({"refit": False}, "was not estimated", {"How optimistic is it"}),
    ],
)
def test_other_refits(options, words, headings, tmp_path):
    options = {"scoring": "f1"} | options  # several candidates have a weight by it
    search = SpotSearchCV(SVC(), {"C": [0.1, 1.0, 9.0]}, n_iter=3, cv=3, random_state=0, **options).fit(ROWS, Y)
    text, page = str(search.methods_section()), search.report(tmp_path / "page.html").read_text()
    assert words in text
    found = set(re.findall(r"<h2[^>]*>(.*?)</h2>", page))
    assert headings <= found
    assert ("Rows used" in page) == ("The final model is" in text) == (options["refit"] is not False)
    if options["refit"] is False:
        assert not {"Expected score", "Members", "Predictions"} & found
    if options["refit"] == "average":
        members = np.count_nonzero(search.cv_results_["weight"])
        assert f"the weighted average of {members} of 3 configurations" in text


def test_parameters_with_the_names_of_columns_replace_none():
    study = Study({"low": (0.0, 1.0), "trial": [3, 4]}, "random", seed=0, noise=False)
    study.run(lambda p: p["low"], n_trials=3)
    results = study.methods_section().results
    assert results["param_low"].tolist() == results["value"].tolist()
    assert results["trial"].tolist() == [str(study.best_trial.number)]
    several = Study({"trial": (0.0, 1.0)}, "random", seed=0, direction={"trial": "minimize", "b": "minimize"})
    several.run(lambda p: {"values": [p["trial"], -p["trial"]]}, n_trials=3)
    front = several.methods_section().results
    assert front["trial"].tolist() == [t.number for t in several.pareto()]
    assert front["param_trial"].tolist() == front["value_trial"].tolist() == [t.values[0] for t in several.pareto()]
