import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from spotsvm.studies.coverage.cases import CASES, REAL, SIMULATED, Rows, Sample
from spotsvm.studies.coverage.fits import MODELS, TUNED, run_fit
from spotsvm.studies.coverage.results import coverage_table, draw_coverage, on_coverage
from spotsvm.studies.coverage.study import CoverageStudy
from tests.studies.small import ran


def fits(true, *, low=0.6, high=0.8, rows=SIMULATED, case="a", score="accuracy"):
    """Return fits with these scores on new rows, and one interval for all."""
    about = {"rows": rows, "case": case, "model": TUNED, "score": score}
    values = {"expected": 0.7, "low": low, "high": high, "rows_low": 0.5, "rows_high": 0.9}
    return pd.DataFrame([about | values | {"fit": k, "true": one} for k, one in enumerate(true)])


def test_scores_in_below_and_above_the_interval_are_counted():
    runs = pd.concat([fits([0.7, 0.65, 0.55, 0.45]), fits([0.7, 0.7, 0.85, 0.79], case="b"), fits([0.7], low=np.nan, case="c")])
    (row,) = coverage_table(runs, ["rows", "score"]).to_dict("records")
    assert (row["rows"], row["fits"]) == (SIMULATED, 9)
    # a missing interval contains nothing
    assert (row["contained"], row["below"], row["above"]) == pytest.approx((500 / 9, 200 / 9, 100 / 9))
    assert row["contained, of these rows"] == pytest.approx(800 / 9)
    assert row["standard error"] == pytest.approx(100 * np.sqrt(5 / 9 * 4 / 9 / 8))  # binomial, with one degree of freedom less
    assert (row["median width"], row["bias"]) == pytest.approx((0.2, 0.0))
    assert coverage_table(runs, ["case"])["contained"].tolist() == pytest.approx([50.0, 75.0, 0.0])
    # two models of the same tables are no further evidence
    both = pd.concat([runs, runs.assign(model="SpotSearchCV")])
    assert coverage_table(both, ["rows"])["standard error"].item() == pytest.approx(row["standard error"])


def test_the_error_over_real_sets_is_of_the_differences_between_them():
    runs = pd.concat([fits([0.7, 0.5], rows=REAL), fits([0.7, 0.7], rows=REAL, case="b")])
    (row,) = coverage_table(runs, ["rows"]).to_dict("records")
    assert row["standard error"] == pytest.approx(100 * np.std([0.5, 1.0], ddof=1) / np.sqrt(2))
    simulated, real = on_coverage(pd.concat([fits([0.7], score="R2"), runs]))
    assert simulated.startswith(
        "On simulated tables the 95 % interval of the score to expect contains the score on new rows: R2 100"
    )
    assert real.endswith(": accuracy 75.0 % of 4 fits (standard error 25.0).")
    figure = draw_coverage(coverage_table(pd.concat([fits([0.7]), runs]), ["rows", "model", "score"]))
    assert [panel.get_title() for panel in figure.axes] == [SIMULATED, REAL]


def test_laws_of_rows_are_as_they_say():
    for case in CASES.values():
        old, new = case.sample([3])
        assert len(old.y) == 150
        assert len(np.unique(new.y)) == (len(case.cuts) + 1 if case.cuts else len(new.y))
        assert (old.weight is None) is not case.weighted
        assert (old.groups is None) is (case.group_size == 1)
    assert 0.05 < CASES["a rare class"].sample([3]).new.y.mean() < 0.15
    grouped = CASES["regression, groups"].sample([3]).new
    part = grouped.y - grouped.X[:, 0] * (1 + grouped.X[:, 1])
    of_group = pd.Series(part).groupby(grouped.groups)
    assert (pd.Series(grouped.X[:, 4]).groupby(grouped.groups).nunique() == 1).all()
    # half of the variance of what the columns do not say is of the group
    assert of_group.mean().var() / part.var() == pytest.approx(0.5 + 0.5 / 5, abs=0.03)


def few(name, n_new):
    both = zip(CASES[name].sample([1]), (60, n_new), strict=True)
    return Sample(*(Rows(*(None if part is None else part[:n] for part in rows)) for rows, n in both))


@pytest.mark.parametrize(
    ("case", "model", "scores"),
    [
        ("two classes, weights", 'SpotSearchCV, refit="average"', ["accuracy", "log loss", "AUC"]),
        ("two classes, weights", TUNED, ["accuracy", "log loss", "AUC"]),
        ("two classes, groups", "SpotSearchCV", ["accuracy", "AUC"]),
        ("three classes", 'SpotSearchCV, refit="1se"', ["accuracy"]),
    ],
)
def test_a_fit_has_the_score_on_new_rows_with_their_weights(case, model, scores, monkeypatch):
    kept = []
    fit = MODELS[model]
    monkeypatch.setitem(MODELS, model, lambda *given: kept.append(fit(*given)) or kept[0])
    sample = few(case, 400)
    rows = run_fit("classification", sample, model, 0)
    assert [row["score"] for row in rows] == scores
    (fitted,), new = kept, sample.new
    assert rows[0]["true"] == pytest.approx(accuracy_score(new.y, fitted.predict(new.X), sample_weight=new.weight))
    assert rows[0]["expected"] == pytest.approx(fitted.expected_score_.value)
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx(fitted.expected_score_.interval)
    if "AUC" in scores:
        decisions = fitted.decision_function(new.X) if scores[1] == "AUC" else fitted.predict_proba(new.X)[:, 1]
        assert rows[-1]["true"] == pytest.approx(roc_auc_score(new.y, decisions, sample_weight=new.weight))
    assert all(row["rows_low"] <= row["low"] <= row["expected"] <= row["high"] <= row["rows_high"] for row in rows)


def test_the_small_form_has_both_tables_and_says_both():
    study = ran("coverage")
    table = study.table()
    assert table["rows"].tolist() == [SIMULATED, REAL]
    assert table["fits"].tolist() == [2, 1]
    by_table, optimism = study.further_tables().values()
    assert by_table["case"].tolist() == ["regression", "friedman 1"]
    assert len(optimism) == 3
    assert study.conclusion().count("\n\n") == 2


def test_sets_that_are_missing_are_named(monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    study = CoverageStudy(quick=True, sets=("friedman 1", "waveform"))
    assert list(study._read_sets()) == ["friedman 1"]
    assert list(study.left_out) == ["waveform"]
