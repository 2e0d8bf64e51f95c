import pytest

from spotsvm.errors import DataError
from studies.multi_kernel_cost import MultiKernelCostStudy


def test_quick_form():
    study = MultiKernelCostStudy(quick=True)
    runs, table = study.frame(), study.table()
    assert len(runs) == 2 * 3
    assert (runs.points <= 1).all()
    assert (runs[["ours_seconds", "sklearn_seconds", "first_score_seconds"]] > 0).all().all()
    assert runs.score.between(0.5, 1.0).all()
    assert table.model.tolist() == ["(8), tuned", "(13), fixed"]
    assert f"{table.ratio[0]:.1f} for model (8)" in study.conclusion()


def test_no_data_folder(monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    with pytest.raises(DataError, match="set SPOTSVM_DATA"):
        MultiKernelCostStudy().run()
