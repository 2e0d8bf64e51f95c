from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris

from spotsvm import Study
from spotsvm.study.recorded import RecordedStudy
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.results import HeldOutResult, held_out_finding, write_tuning_report
from spotsvm.tuning.tables.table import make_table


@contextmanager
def quiet(name, budget):
    yield None


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_tuning_leaves_a_report_beside_the_random_search(tmp_path, search):
    X, y = load_iris(return_X_y=True, as_frame=True)
    results = TuningJob(make_table(X, y), budget=8, search=search, cv=3, seed=1, out=tmp_path).run(quiet)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"8 trials by the search {search}." in text
    assert ("the 6 values of the given random search" in text) == (search == "kriging")  # but for the two starts
    assert "On the held-out rows, which no search has used" in text
    assert f"{results[-1].test_score:.4f}" in text
    read = RecordedStudy(tmp_path / f"{search}.db")
    beside = RecordedStudy(tmp_path / "random.db") if search == "kriging" else None
    assert read.report(tmp_path / "again.html", beside).read_text(encoding="utf-8") == text


def result(test_score, test_error=0.01, name="kriging", search=None):
    return HeldOutResult(name, 0.9, test_score, test_error, None, search)


@pytest.mark.parametrize(
    ("final", "sentence"),
    [
        (result(0.91), "So the tuned score is not too optimistic."),
        (result(0.885), "The difference, 0.0150, is within two standard errors."),
        (result(0.85), "The difference, 0.0500, is more than two standard errors."),
        (result(0.85, float("nan")), "The held-out rows are too few to judge the tuned score."),
    ],
)
def test_what_the_held_out_rows_say(final, sentence):
    assert held_out_finding(final)["sentence"].endswith(sentence)


def test_a_random_search_that_only_failed_is_no_baseline(tmp_path):
    def search(objective):
        return SimpleNamespace(study_=Study({"x": uniform(0, 1)}, "random", 0).run(objective, n_trials=3))

    failed, fine = search(lambda p: 1 / 0), search(lambda p: p["x"])
    results = [result(0.9, name="default"), result(0.9, name="random", search=failed), result(0.9, search=fine)]
    assert write_tuning_report(results, tmp_path) == [tmp_path / "report.html"]
    assert write_tuning_report(results[:1], tmp_path) == []
