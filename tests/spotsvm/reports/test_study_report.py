import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.common.errors import StorageError
from spotsvm.study.recorded import RecordedStudy

SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


def noisy_study(**settings):
    rng = np.random.default_rng(0)
    return Study(SQUARE, "kriging", 0, **settings).run(lambda p: p["x"] ** 2 + 2 * p["y"] ** 2 + 0.2 * rng.normal(), n_trials=30)


def test_a_report_from_the_record_is_that_of_the_study_to_the_byte(tmp_path):
    path = tmp_path / "run.db"
    study = noisy_study(path=path)
    first = study.report(tmp_path / "first.html").read_bytes()
    assert RecordedStudy(path).report(tmp_path / "second.html").read_bytes() == first
    study.close()
    assert RecordedStudy(path).report(tmp_path / "third.html").read_bytes() == first


def test_a_report_changes_nothing_of_the_study(tmp_path):
    study, twin = noisy_study(), noisy_study()
    before = study.frame()
    study.report(tmp_path / "report.html", tables=tmp_path / "tables")
    assert study.frame().equals(before)
    assert study.ask().point == twin.ask().point


def test_the_reports_tables_have_the_numbers_of_memory(tmp_path):
    study = noisy_study()
    study.report(tmp_path / "report.html", tables=tmp_path / "tables")
    files = {file.name.partition("-")[2]: file for file in sorted((tmp_path / "tables").iterdir())}
    trials = pd.read_csv(files["30-trials-their-parameters-and-values.csv"])
    assert trials["value"].min() == study.best_trial.value
    assert trials["value"].tolist() == study.frame()["value"].tolist()
    chosen = pd.read_csv(next(file for name, file in files.items() if name.startswith("the-recommended-trial")), index_col=0)
    assert float(chosen.loc["value", "best seen"]) == study.best_trial.value
    assert float(chosen.loc["value", "recommended"]) == study.recommend().value


def test_a_report_of_200_trials_of_nine_parameters_is_small(tmp_path, check_page):
    rng = np.random.default_rng(0)
    study = Study({f"p{k}": uniform(0, 1) for k in range(8)} | {"kind": ["a", "b", "c"]}, "random", 0)
    study.run(lambda p: {"value": p["p0"] ** 2 + p["p1"] + rng.normal(), **{f"split{k}_test_score": 1.0 for k in range(10)}}, 200)
    file = study.report(tmp_path / "report.html")
    assert file.stat().st_size < 3e6
    check_page(file.read_text(encoding="utf-8"))


def test_a_report_cannot_be_written_where_there_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write the report"):
        Study(SQUARE, "random", 0).report(tmp_path / "file" / "report.html")
