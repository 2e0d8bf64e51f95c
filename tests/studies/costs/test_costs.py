import numpy as np

from spotsvm.studies.costs.speed import LARGE_C
from tests.studies.small import ran


def test_every_setting_is_timed_and_scored_by_both_alike():
    study = ran("speed")
    runs = study.frame()
    assert len(runs) == 12
    assert (runs[["ours_seconds", "sklearn_seconds", "whole_call_seconds"]] > 0).all(axis=None)
    assert runs.same_in_whole_call.all()
    np.testing.assert_allclose(runs.ratio, runs.sklearn_seconds / runs.ours_seconds)
    assert (runs[runs.C <= LARGE_C].points <= 1).all()
    ours, peers = ([f"{who}_{k}" for k in range(5)] for who in ("ours", "sklearn"))
    assert (runs["equal"] == np.isclose(runs[ours].to_numpy(), runs[peers].to_numpy()).all(axis=1)).all()
    assert runs["equal"].mean() >= 0.9
    table = study.table()
    assert table.data_set.tolist() == ["breast cancer", "iris"]
    assert table.settings.tolist() == [6, 6]
    np.testing.assert_allclose(table.ratio, table["scikit-learn"] / table.seconds)
    assert (table["worst ratio"] <= table["median ratio"]).all()
    assert (table["left to scikit-learn"] == 0).all()
    text = study.to_markdown()
    assert "quick form" in text
    assert "on breast cancer (160)" in text


def test_a_fold_that_differs_is_measured():
    from sklearn.svm import SVC

    from spotsvm.studies.common.data import stand_ins
    from spotsvm.studies.costs.speed import FoldGaps

    data = stand_ins()[0]
    train, test = np.arange(0, 120), np.arange(120, 160)
    machine = SVC(C=100.0, gamma=0.02).fit(data.X[train], data.y[train])
    gaps = FoldGaps(data).measure({"C": 100.0, "gamma": 0.02}, (train, test), machine, machine.score(data.X[test], data.y[test]))
    assert gaps.same_score
    assert 0 < gaps.ours < 1e-3
    assert 0 < gaps.sklearn < 1.1e-3


def test_quick_form():
    study = ran("multi_kernel_cost")
    runs, table = study.frame(), study.table()
    assert len(runs) == 2 * 3
    assert (runs.points <= 1).all()
    assert (runs[["ours_seconds", "sklearn_seconds", "first_score_seconds"]] > 0).all().all()
    assert runs.score.between(0.5, 1.0).all()
    assert table.model.tolist() == ["(8), tuned", "(13), fixed"]
    assert f"{table.ratio[0]:.1f} for model (8)" in study.conclusion()
