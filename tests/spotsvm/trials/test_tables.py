import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, Trial
from spotsvm.trials.results import fold_table, trial_table

TRIALS = (
    Trial(0, {"kernel": "rbf", "C": 1.5}, (0.1, 0.2), "ok", 0.25, {"time": 3.0}, origin="design", seed=7, seconds=0.5),
    Trial(1, {"kernel": "poly", "C": 2.0, "degree": 3}, (0.9, 0.2), "failed", reason="ValueError: no, nothing", seed=8),
    Trial(2, {"kernel": None, "C": 2.5}, (0.9, 0.2), "running", origin="improvement", seed=2**32 - 1, ask_seconds=0.1),
)
NAMES = ("kernel", "C", "degree")


def test_columns_and_what_is_missing():
    frame = trial_table(TRIALS, NAMES)
    columns = "number state value param_kernel param_C param_degree extra_time origin note reason error_type seed ask_seconds"
    assert list(frame.columns) == [*columns.split(), "fit_seconds", "acquisition_seconds", "seconds", "lost"]
    assert frame["number"].tolist() == [0, 1, 2]
    assert frame["value"][0] == 0.25
    columns = ["value", "param_degree", "param_kernel", "extra_time"]
    assert frame[columns].isna().to_numpy().T.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("trials", [TRIALS, TRIALS[1:2], TRIALS[2:], ()], ids=len)
def test_numbers_are_numbers_whatever_is_missing(trials):
    frame = trial_table(trials, NAMES)
    assert len(frame) == len(trials)
    assert set(frame.dtypes[["number", "seed", "lost"]]) == {np.dtype("int64")}
    assert set(frame.dtypes[["value", "ask_seconds", "seconds"]]) == {np.dtype("float64")}


def test_several_objectives_and_further_numbers_have_a_column_each():
    values = ("value_error", "value_1")
    trials = [
        Trial(0, {"C": 1.0}, (0.5,), "ok", values=(0.1, 12.0), extra={"b": 1.0}),
        Trial(1, {"C": 2.0}, (0.7,), "failed", reason="no", extra={"a": np.inf, "b": np.nan}),
    ]
    frame = trial_table(trials, ["C"], values)
    assert list(frame.columns[2:7]) == [*values, "param_C", "extra_b", "extra_a"]
    np.testing.assert_array_equal(frame[[*values, "extra_a"]], [[0.1, 12.0, np.nan], [np.nan, np.nan, np.inf]])
    assert list(trial_table([], ["C"], values).columns[2:4]) == list(values)


def test_objects_stay_and_parameters_may_be_called_like_columns():
    values = [None, True, (1, 2), np.array([1, 2])]
    frame = trial_table([Trial(k, {"x": v}, (0.5,)) for k, v in enumerate(values)], ["x"])
    assert all(a is b for a, b in zip(frame["param_x"], values, strict=True))
    names = ("C", "value", "number")
    frame = trial_table([Trial(0, dict.fromkeys(names, 2), (0.5,), "ok", 1.0)], names)
    assert frame.columns.is_unique
    assert (frame["number"][0], frame["value"][0]) == (0, 1.0)


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    X, y = load_iris(return_X_y=True)
    path = tmp_path_factory.mktemp("record") / "iris.db"
    return SpotSearchCV(
        SVC(), {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1e1)}, n_iter=8, cv=3, scoring=["accuracy", "f1_macro"],
        refit="accuracy", random_state=0, path=path, return_train_score=True,
    ).fit(X, y)  # fmt: skip


def export(*args):
    result = CliRunner().invoke(main, ["export", *map(str, args)])
    return result.exit_code, result.stdout, result.stderr


def test_a_row_a_trial_and_fold_as_cv_results_has_them(search):
    folds = search.study_.folds()
    columns = ["test_accuracy", "test_f1_macro", "train_accuracy", "train_f1_macro"]
    assert list(folds) == ["number", "fold", *columns]
    for name in columns:
        expected = pd.DataFrame({k: search.cv_results_[f"split{k}_{name}"] for k in range(3)})
        np.testing.assert_array_equal(folds.pivot(index="number", columns="fold", values=name), expected)


def test_command_and_python_write_the_same(search, tmp_path):
    search.study_.to_csv(tmp_path / "trials.csv")
    search.study_.folds_to_csv(tmp_path / "folds.csv")
    code, out, _ = export(search.path, "--csv", tmp_path / "a.csv", "--folds", tmp_path / "b.csv")
    assert (code, out) == (0, "")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "trials.csv").read_bytes()
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "folds.csv").read_bytes()
    assert export(search.path, "--folds")[1] == (tmp_path / "folds.csv").read_text()
    assert export(search.path)[1] == (tmp_path / "trials.csv").read_text()
    assert "is the record itself" in export(search.path, "--folds", search.path)[2]
    assert "--csv and --folds are both" in export(search.path, "--csv", tmp_path / "x", "--folds", tmp_path / "x")[2]
    assert "--csv and --folds are both -" in export(search.path, "--csv", "-", "--folds", "-")[2]
    code, _, error = export(search.path, "--folds", tmp_path / "no" / "x.csv")
    assert (code, "cannot write the folds" in error) == (2, True)


def test_folds_that_failed_or_are_not_there_are_absent(tmp_path):
    Study({"x": [1, 2]}, "random", 0).run(lambda p: p["x"], n_trials=1).folds_to_csv(tmp_path / "folds.csv")
    assert (tmp_path / "folds.csv").read_text() == "number,fold\n"
    trials = [
        Trial(0, {}, (), "failed", extra={"split1_test_a": 0.5}),
        Trial(1, {}, (), "running"),
        Trial(2, {}, (), "ok", 0.5, {"split0_test_a": 0.5, "split0_test_b": 1.0, "split10_test_a": 0.2, "folds_run": 2.0}),
    ]
    expected = {"number": [0, 2, 2], "fold": [1, 0, 10], "test_a": [0.5, 0.5, 0.2], "test_b": [np.nan, 1.0, np.nan]}
    pd.testing.assert_frame_equal(fold_table(trials), pd.DataFrame(expected))
