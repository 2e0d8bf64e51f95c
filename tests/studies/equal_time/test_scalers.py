import pytest

from spotsvm.common.errors import ArgumentError
from spotsvm.studies.equal_time import scalers as module
from spotsvm.studies.equal_time.scalers import POWER, SCALERS, STANDARD, ScalersStudy, measure
from spotsvm.studies.equal_time.sets import read_rows


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_a_tuned_machine_is_judged_on_rows_that_it_was_not_tuned_on(name, monkeypatch):
    monkeypatch.setattr(module, "N_ITER", 3)
    rows = read_rows(name, 120, 120)
    error, tuned = measure(rows, 0, POWER)
    assert (error, tuned) == measure(rows, 0, POWER)
    assert 0 <= error < (20 if name == "iris" else 100)
    assert 0 < tuned < 1


def test_differences_are_those_of_the_sets(monkeypatch):
    better = {"iris": 1.0, "wine": 3.0, "diabetes": 0.5}

    def known(rows, split, scaler):
        return 10.0 + split - (better[rows.name] if scaler == POWER else 0.0), 0.9

    monkeypatch.setattr(module, "measure", known)
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    study = ScalersStudy(sets=(*better, "liver"), n_splits=2).run()
    assert len(study.frame()) == 3 * 2 * len(SCALERS)
    table = study.table().set_index(["task", "scaler"])
    assert table.loc[("classification", STANDARD), "error"] == 10.5
    row = table.loc[("classification", POWER)]
    assert (row["difference"], row["sets"]) == (-2.0, 2)
    assert row["low"] < -2.0 < row["high"]
    text = study.conclusion()
    assert "Classification, 2 sets: difference of the error to that of unit variance, " in text
    assert "Left out: liver" in text
    assert "Regression, 1 sets" in text


def test_an_unknown_set_is_refused():
    with pytest.raises(ArgumentError, match="'moons' is unknown"):
        ScalersStudy(sets=["moons"])
