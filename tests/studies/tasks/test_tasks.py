import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, train_test_split
from sklearn.svm import SVC, SVR

from spotsvm import Space
from spotsvm.errors import DataError
from spotsvm.studies.tasks.data import TuningSet, tuning_set
from spotsvm.studies.tasks.svm import ClassificationError, RelevanceError, UnbalancedError
from spotsvm.studies.tasks.tasks import TASKS, branin, hartmann6, make_task, make_tasks, rosenbrock

FREE = ("svc_rbf_breast_cancer", "svr_diabetes", "stormwater_a", "branin", "hartmann6", "rosenbrock5", "branin_noisy")


def blobs(classes=2, rows=60, features=3):
    rng = np.random.default_rng(0)
    y = np.arange(rows) % classes
    return TuningSet(rng.normal(size=(rows, features)) + y[:, None], y.astype(float))


def test_the_classification_error_is_scikit_learns():
    task, data = make_task("svc_rbf_breast_cancer"), tuning_set("breast_cancer")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for params in ({"C": 10.0, "gamma": 0.01}, {"C": 0.5, "gamma": 0.1}):
        predicted = cross_val_predict(SVC(**params), data.X, data.y, cv=folds)
        assert task(params, 0) == np.mean(predicted != data.y)


def test_the_regression_error_is_in_the_targets_units():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X, params = (X - X.mean(axis=0)) / X.std(axis=0), {"C": 1.0, "gamma": 0.03, "epsilon": 0.3}
    predicted = cross_val_predict(SVR(**params), X, (y - y.mean()) / y.std(), cv=KFold(5, shuffle=True, random_state=0))
    assert make_task("svr_diabetes")(params, 0) == pytest.approx(np.sqrt(np.mean((predicted * y.std() + y.mean() - y) ** 2)))


def test_equal_gammas_are_one_gamma_and_a_feature_without_gamma_is_not_there():
    data = blobs()
    many = {"C": 2.0} | {f"gamma{i}": 0.3 for i in range(3)}
    assert RelevanceError(data)(many) == ClassificationError(data)({"C": 2.0, "gamma": 0.3})
    fewer = {"C": 2.0, "gamma0": 0.3, "gamma1": 0.1}
    assert RelevanceError(data)(fewer | {"gamma2": 0.0}) == RelevanceError(TuningSet(data.X[:, :2], data.y))(fewer)


def test_equal_weights_and_cutoffs_are_a_plain_machine_and_a_small_cutoff_draws_all_rows():
    data = blobs(classes=3, rows=90)
    third = 1 / 3
    params = {"C": 2.0, "gamma": 0.2, "cutoff0": third, "cutoff1": third} | {f"weight{i}": 1.0 for i in range(3)}
    train, test = train_test_split(np.arange(90), test_size=0.2, stratify=data.y, random_state=7)
    machine = SVC(C=2.0, gamma=0.2).fit(data.X[train], data.y[train])
    recalls = [np.mean(machine.predict(data.X[test])[data.y[test] == label] == label) for label in range(3)]
    assert UnbalancedError(data)(params, 7) == pytest.approx(1 - np.mean(recalls))
    assert UnbalancedError(data)(params | {"cutoff0": 1e-9, "cutoff1": 0.4}, 0) == pytest.approx(2 / 3)


def test_the_true_value_is_the_mean_over_splits_of_its_own():
    data = blobs(classes=3, rows=60)
    error = UnbalancedError(data)
    params = {"C": 2.0, "gamma": 0.2, "cutoff0": 0.3, "cutoff1": 0.3} | {f"weight{i}": 0.5 for i in range(3)}
    assert error.truth(params) == pytest.approx(np.mean([error(params, 10**9 + k) for k in range(25)]))
    assert error.truth(params) == error.truth(params)
    assert len({error(params, seed) for seed in range(8)}) > 1


@pytest.mark.parametrize("name", FREE)
def test_a_task_is_a_function_of_its_setting_and_seed(name):
    task = make_task(name)
    space = Space(task.space)
    params = space.decode(np.full(space.domain.dimension, 0.4))
    value = task(params, 3)
    assert task(params, 3) == value == pickle.loads(pickle.dumps(task))(params, 3)
    if task.noisy:
        assert value["true_value"] == task.truth(params) != value["value"] != task(params, 4)["value"]
    else:
        assert value == task.truth(params) == task(params, 4)
        assert task.optimum is None or value >= task.optimum


def test_a_task_without_its_data_is_left_out_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path))
    made, left_out = make_tasks()
    assert [task.name for task in made] == [
        *("svc_rbf_breast_cancer", "svr_diabetes", "stormwater_a", "branin", "hartmann6", "rosenbrock5"),
        *("branin_noisy", "hartmann6_noisy"),
    ]
    assert set(left_out) == set(TASKS) - {task.name for task in made}
    assert "there is no sonar.csv in it" in left_out["svc_rbf_sonar"]
    monkeypatch.delenv("SPOTSVM_DATA")
    with pytest.raises(DataError, match="set SPOTSVM_DATA to the folder with pima.csv"):
        make_task("svc_ard_pima400")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "counts", "error"),
    [
        # errors of scikit-learn's SVC(C=10, gamma=0.02), measured on KEEL's own copies and the rows drawn from them
        ("ionosphere", (351, 33), [126, 225], 17 / 351),
        ("sonar", (208, 60), [111, 97], 26 / 208),
        ("german400", (400, 20), [280, 120], 116 / 400),
        ("heart", (270, 13), [150, 120], 47 / 270),
        ("pima400", (400, 8), [260, 140], 91 / 400),
    ],
)
def test_the_sets(name, shape, counts, error):
    X, y = tuning_set(name)
    assert X.shape == shape
    assert np.unique(y, return_counts=True)[1].tolist() == counts
    assert np.allclose(X.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(X.std(axis=0), 1)
    assert ClassificationError(TuningSet(X, y))({"C": 10.0, "gamma": 0.02}) == pytest.approx(error)


@pytest.mark.parametrize(
    ("function", "point", "minimum"),
    [
        (branin, [np.pi, 2.275], 0.397887),
        (hartmann6, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573], -3.32237),
        (rosenbrock, [1.0, 1.0, 1.0], 0.0),
    ],
)
def test_minima_are_the_published_ones(function, point, minimum):
    assert function(np.array(point)) == pytest.approx(minimum, abs=1e-5)
