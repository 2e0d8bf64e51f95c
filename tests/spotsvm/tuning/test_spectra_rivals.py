"""Models that spectra are usually given to, beside the SVM of the pipeline "spectra"; the best of all is recommended."""

import contextlib
import io

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import root_mean_squared_error

from spotsvm.luck.verdict import Verdict
from spotsvm.study.load import load_study
from spotsvm.tables import make_table, named_pipeline
from spotsvm.trials.findings import VERDICT
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import comparison, recommended
from spotsvm.tuning.saved import load_model
from spotsvm.tuning.summary import summary
from spotsvm.tuning.svm_search import SVMSearch
from spotsvm.tuning.tables.table import Table

RNG = np.random.default_rng(0)
NM = np.linspace(0, 1, 24)
BANDS = np.exp(-(((NM - np.array([[0.2], [0.5], [0.8]])) / 0.1) ** 2))
SHARES = RNG.dirichlet([2, 3, 4], size=72)
SCATTER = np.exp(0.3 * RNG.normal(size=(72, 1)))
X = pd.DataFrame(
    SCATTER * (SHARES @ BANDS) + 0.2 * RNG.normal(size=(72, 1)) + 1e-3 * RNG.normal(size=(72, 24)),
    columns=[f"nm{k}" for k in range(24)],
)
FAT = pd.Series(100 * SHARES[:, 0], name="fat")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("spectra")
    settings = {"pipeline": "spectra", "search": "random", "n_trials": 1, "cv": 3, "oversearching": "none", "out": out}
    given = Job.of(SVMSearch, make_table(X, FAT), **settings)
    return given, given.run(), out


def test_the_best_model_on_rows_that_it_had_not_seen_is_recommended(done):
    given, results, _ = done
    verdict = results[-1].verdict
    assert [rival.code for rival in verdict.rivals] == ["constant", "linear", "forest", "pls", "tuned_svm"]
    judged = {rival.code: rival.expected for rival in verdict.rivals[3:]}
    assert verdict.of_svm.value < max(judged.values())  # a single random trial
    assert judged[verdict.rival] == max(judged.values()) == verdict.expected.value
    model, test = recommended(results), given.test
    held_out = next(rival.held_out for rival in verdict.rivals if rival.code == verdict.rival)
    assert held_out == verdict.expected.held_out == -root_mean_squared_error(test.y, model.predict(test.X))
    svm = results[0 if verdict.recommended == "default" else -1].held_out
    assert verdict.over_svm.value == pytest.approx(held_out - svm)


def test_the_table_and_the_sentences_name_it(done):
    given, results, _ = done
    verdict = results[-1].verdict
    frame = comparison(results).set_index("model")
    assert [note for note in frame["note"] if note.endswith("(recommended)")] == [f"{verdict.recommended_name} (recommended)"]
    assert frame.loc[verdict.rival, "expected_low"] < frame.loc[verdict.rival, "expected"] == -verdict.expected.value
    assert np.isnan(frame.loc[verdict.rival, "difference"])
    # errors are positive, and so are differences in which the recommended model has less of them
    assert frame.loc["forest", "difference"] == pytest.approx(-verdict.expected.held_out - frame.loc["forest", "held_out"])
    assert frame.loc["constant", "difference"] == pytest.approx(-verdict.expected.held_out - frame.loc["constant", "held_out"])
    text = summary(given, results)
    assert f"{verdict.recommended_name} (recommended)" in text
    assert f"Recommended: {verdict.recommended_name}: deriv = " in " ".join(text.split())
    assert verdict.expectation.startswith("On new rows expect RMSE ")
    assert f" of {verdict.recommended_name} (95 % interval" in verdict.expectation


def test_it_is_saved_and_its_code_runs(done):
    given, results, out = done
    model, test = recommended(results), given.test
    np.testing.assert_array_equal(load_model(out).pipeline.predict(test.X), model.predict(test.X))
    kept = Verdict.from_dict(load_study(out / "random.db").findings[VERDICT])
    assert kept.to_dict() == results[-1].verdict.to_dict()
    page = (out / "report.html").read_text()
    assert "Recommended in place of the SVM is " in page
    assert "this section is about the SVM" in page
    code = results[-1].code.replace("table = ...  # make_table(X, y)", "table = make_table(X, FAT)")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "repeat.py", "exec"), {"X": X, "FAT": FAT})
    assert float(printed.getvalue().split()[-1]) == pytest.approx(results[-1].verdict.expected.held_out)


def test_classes_have_discriminant_analysis_with_their_groups_apart():
    y = pd.Series(np.array(["lean", "fat"])[(FAT > FAT.median()).astype(int)], name="class")
    groups = pd.Series(np.arange(72) // 2, name="pair")
    given = named_pipeline("spectra", Table(X, y, "classification", groups=groups), cv=3)
    assert [one.code for one in given.rivals] == ["lda", "tuned_svm"]
    model = given.rival("lda").fit(X, y, groups=groups)
    assert model.best_score_ > 0.8
    with pytest.raises(ValueError, match="groups"):
        given.rival("lda").fit(X, y)
    assert named_pipeline("svm", make_table(X, y)).rivals == ()


def test_the_score_to_tune_by_reaches_the_rivals():
    given = named_pipeline("spectra", make_table(X, FAT), scoring="neg_mean_absolute_error")
    assert given.rival("pls").scoring == given.rival("tuned_svm")[-1].scoring == given.scoring == "neg_mean_absolute_error"
    assert named_pipeline("spectra", make_table(X, FAT), scoring="max_error").rival("tuned_svm")[-1].scoring is None
