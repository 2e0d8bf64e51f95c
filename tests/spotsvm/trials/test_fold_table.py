import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study
from spotsvm.commands.main import main
from spotsvm.trials.tables import fold_table
from spotsvm.trials.trial import Trial

SPACE = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1e1)}


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    X, y = load_iris(return_X_y=True)
    path = tmp_path_factory.mktemp("record") / "iris.db"
    return SpotSearchCV(
        SVC(), SPACE, n_iter=8, cv=3, scoring=["accuracy", "f1_macro"], refit="accuracy", random_state=0, path=path,
        return_train_score=True,
    ).fit(X, y)  # fmt: skip


def export(*args):
    result = CliRunner().invoke(main, ["export", *map(str, args)])
    return result.exit_code, result.stdout, result.stderr


def test_a_row_a_trial_and_fold_as_cv_results_has_them(search):
    folds = search.study_.folds()
    assert list(folds) == ["number", "fold", "test_accuracy", "test_f1_macro", "train_accuracy", "train_f1_macro"]
    assert len(folds) == 8 * 3
    for row in folds.itertuples():
        assert row.test_accuracy == search.cv_results_[f"split{row.fold}_test_accuracy"][row.number]
        assert row.train_f1_macro == search.cv_results_[f"split{row.fold}_train_f1_macro"][row.number]


def test_command_and_python_write_the_same(search, tmp_path):
    search.study_.to_csv(tmp_path / "trials.csv")
    search.study_.folds_to_csv(tmp_path / "folds.csv")
    code, out, _ = export(search.path, "--csv", tmp_path / "a.csv", "--folds", tmp_path / "b.csv")
    assert (code, out) == (0, "")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "trials.csv").read_bytes()
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "folds.csv").read_bytes()
    assert export(search.path, "--folds")[1] == (tmp_path / "folds.csv").read_text()
    assert export(search.path)[1] == (tmp_path / "trials.csv").read_text()


def test_files_that_make_no_sense(search, tmp_path):
    assert "is the record itself" in export(search.path, "--folds", search.path)[2]
    assert "--csv and --folds are both" in export(search.path, "--csv", tmp_path / "x", "--folds", tmp_path / "x")[2]
    assert "--csv and --folds are both -" in export(search.path, "--csv", "-", "--folds", "-")[2]
    code, _, error = export(search.path, "--folds", tmp_path / "no" / "x.csv")
    assert (code, "cannot write the folds" in error) == (2, True)


def test_a_study_without_folds_has_a_table_without_rows(tmp_path):
    study = Study({"x": [1, 2]}, "random", 0).run(lambda p: p["x"], n_trials=1)
    assert study.folds().shape == (0, 2)
    study.folds_to_csv(tmp_path / "folds.csv")
    assert (tmp_path / "folds.csv").read_text() == "number,fold\n"


def test_what_failed_is_absent():
    trials = [
        Trial(0, {}, (), "failed", extra={"split1_test_a": 0.5}),
        Trial(1, {}, (), "running"),
        Trial(2, {}, (), "ok", 0.5, {"split0_test_a": 0.5, "split0_test_b": 1.0, "split10_test_a": 0.2, "folds_run": 2.0}),
    ]
    frame = fold_table(trials)
    assert frame[["number", "fold"]].to_numpy().tolist() == [[0, 1], [2, 0], [2, 10]]
    assert frame["test_a"].tolist() == [0.5, 0.5, 0.2]
    assert frame["test_b"].isna().tolist() == [True, False, True]
    assert frame.dtypes["test_b"] == np.float64
