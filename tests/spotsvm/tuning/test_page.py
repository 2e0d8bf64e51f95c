"""The page of a real tuning against its results: files, verdict and record tell the same numbers."""

import json
import re
from contextlib import contextmanager
from html import unescape

import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from spotsvm import load_study
from spotsvm.tables import make_table
from spotsvm.tuning.job import Job
from spotsvm.tuning.svm_search import SVMSearch
from tests.spotsvm.reports.pages import SECTIONS, check_page, without_predictions
from tests.spotsvm.reports.test_numbers import one, tables


@contextmanager
def quiet(name, budget):
    yield None


@pytest.fixture(scope="module", params=["classification", "regression"])
def tuned(request, tmp_path_factory, no_pictures_here):
    out = tmp_path_factory.mktemp("out")
    X, y = (load_iris if request.param == "classification" else load_diabetes)(return_X_y=True, as_frame=True)
    table = make_table(X.iloc[40:120], y.iloc[40:120], request.param)
    results = Job.of(SVMSearch, table, n_trials=8, cv=3, seed=1, out=out, file="some.csv").run(quiet)
    return out, results, (out / "report.html").read_text(encoding="utf-8")


def test_the_page_tells_what_the_results_are(tuned):
    out, results, text = tuned
    page = check_page(text)
    first, recommended, *others = SECTIONS
    assert [heading for rank, heading in page.headings if rank == 2] == [first, recommended, "Predictions", *others]
    verdict = results[-1].verdict
    found = tables(text)
    title = "accuracy" if verdict.metric == "accuracy" else "RMSE"
    _, *rows = one(found, f"{title} on rows that the judged models had not seen")
    comparison = pd.read_csv(out / "comparison.csv").set_index("model")
    names = {"default": "default", "tuned": "kriging"} | {rival.name: rival.code for rival in verdict.rivals}
    assert len(rows) == 4 + verdict.compares
    for row in rows:
        result = comparison.loc[names[row[0].removesuffix(" (recommended)")]]
        assert [float(cell) for cell in row[3:5]] == pytest.approx([result.held_out, result.held_out_error], rel=2e-3, abs=1e-4)
        shown = [float("nan" if cell in ("", "–") else cell) for cell in (row[2], row[5])]
        assert shown == pytest.approx([result.out_of_fold, result.expected], rel=2e-3, abs=1e-4, nan_ok=True)
        assert result.held_out >= 0
    assert sum(row[0].endswith("(recommended)") for row in rows) == 1
    plain = " ".join(unescape(text).split())
    assert verdict.sentence in plain
    for warning in verdict.warnings:
        assert warning in plain
    _, *parameters = one(found, "The parameters to use")
    assert [float(row[1]) for row in parameters] == pytest.approx(list(verdict.params.values()), rel=1e-5)
    study = load_study(out / "kriging.db")
    chosen = set(re.findall(r'<tr data-trial="(\d+)" class="chosen"', text))
    assert chosen == (set() if verdict.number is None else {str(study.recommend().number)})
    assert "<dt>File</dt><dd>some.csv</dd>" in text
    assert f"<dt>Rows</dt><dd>80, {verdict.n_held_out} of them held out</dd>" in text


def test_the_page_shows_the_answers_out_of_fold(tuned):
    _, results, text = tuned
    search = results[-1].search
    table, found = search.out_of_fold_, tables(text)
    _, *worst = one(found, "The 10 rows predicted worst, out of fold. Rows of the file are counted from 1, without its header.")
    rows = [int(row[0]) - 1 for row in worst]
    assert len(set(rows)) == 10
    if table.classes is not None:
        _, *cells = one(found, "Rows by true and predicted class, out of fold")
        assert [[int(cell) for cell in row[1:]] for row in cells] == table.confusion().to_numpy().tolist()
    else:
        data = load_diabetes(return_X_y=True)[1]
        assert [float(row[1]) for row in worst] == pytest.approx([data[row] for row in rows], rel=1e-3)


def test_the_page_of_the_record_is_the_same(tuned, tmp_path):
    out, _, text = tuned
    study = load_study(out / "kriging.db")
    again = study.report(tmp_path / "again.html").read_text(encoding="utf-8")
    assert without_predictions(again) == without_predictions(text)
    assert "Predictions" not in again
    assert json.loads(json.dumps(study.findings["table"]))["Score"] in text
