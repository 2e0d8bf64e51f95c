import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification, make_regression
from sklearn.metrics import mean_squared_error
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

from spotsvm.estimators.evolved.matrix_task import ClassificationTask, RegressionTask, folds, holdouts, solve_indefinite
from spotsvm.estimators.evolved.settings import KernelSetting
from spotsvm.solvers.dual.exact.fold_solver import Target, symmetric_bounds
from spotsvm.solvers.dual.problem.spectrum import clipping, matrix_state

X, CODE = make_classification(n_samples=150, n_features=6, flip_y=0.15, random_state=0)
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
SETTINGS = [KernelSetting(10.0), KernelSetting(0.01), KernelSetting(1.0)]


def errors_of(task, *arguments, **options):
    return task.scores(*arguments, **options).error


def splits(code, n, count=3):
    return holdouts(code, n, 1 / 3, count, np.random.default_rng(0))


@pytest.mark.parametrize(("rows", "code"), [(X, CODE), (WINE, CULTIVAR)], ids=["two", "three"])
@pytest.mark.parametrize("weights", ["equal", "unequal"])
def test_the_error_is_that_of_svc(rows, code, weights):
    factors = np.ones(code.max() + 1) if weights == "equal" else np.linspace(0.5, 2.0, code.max() + 1)
    K = rbf_kernel(rows, gamma=0.1)
    parts = splits(code, len(rows))
    found = errors_of(ClassificationTask(code, factors), K, SETTINGS, parts)
    for setting, error in zip(SETTINGS, found, strict=True):
        wrong = []
        for train, test in parts:
            machine = SVC(kernel="precomputed", C=setting.C, class_weight=dict(enumerate(factors)), tol=1e-4)
            machine.fit(K[np.ix_(train, train)], code[train])
            miss = machine.predict(K[np.ix_(test, train)]) != code[test]
            wrong.append(np.average(miss, weights=factors[code[test]]))
        assert error == pytest.approx(np.mean(wrong), abs=0.021)


def test_the_error_is_that_of_svr():
    data, y = make_regression(n_samples=120, n_features=4, noise=5.0, random_state=0)
    y = scale(y)
    K = rbf_kernel(data, gamma=0.1)
    settings = [KernelSetting(1.0, epsilon=0.1), KernelSetting(0.1, epsilon=0.5), KernelSetting(30.0, epsilon=0.01)]
    parts = splits(None, 120)
    found = errors_of(RegressionTask(y), K, settings, parts)
    for setting, error in zip(settings, found, strict=True):
        roots = []
        for train, test in parts:
            machine = SVR(kernel="precomputed", C=setting.C, epsilon=setting.epsilon, tol=1e-5).fit(
                K[np.ix_(train, train)], y[train]
            )
            roots.append(np.sqrt(mean_squared_error(y[test], machine.predict(K[np.ix_(test, train)]))))
        assert error == pytest.approx(np.mean(roots), abs=5e-3)


def test_the_order_of_settings_does_not_matter():
    task, K, parts = ClassificationTask(CODE, np.ones(2)), rbf_kernel(X, gamma=0.3), splits(CODE, 150)
    forward = errors_of(task, K, SETTINGS, parts)
    np.testing.assert_array_equal(errors_of(task, K, SETTINGS[::-1], parts)[::-1], forward)
    np.testing.assert_allclose([errors_of(task, K, [s], parts)[0] for s in SETTINGS], forward, atol=0.007)


def test_a_class_that_is_not_trained_on_is_never_predicted():
    code = np.array([0] * 10 + [1] * 10 + [2])
    rows = np.random.default_rng(0).normal(size=(21, 2))
    task = ClassificationTask(code, np.ones(3))
    train, test = np.arange(20), np.array([20])
    assert errors_of(task, rbf_kernel(rows), [KernelSetting(1.0)], [(train, test)]).tolist() == [1.0]


def test_hopeless_training_is_stopped_and_counts_as_having_learnt_nothing():
    rng = np.random.default_rng(0)
    huge = rng.normal(size=(60, 3))
    K = (huge @ huge.T) * 1e6
    task = ClassificationTask((rng.random(60) < 0.5).astype(int), np.ones(2))
    parts = splits(None, 60, 1)
    (error,) = errors_of(task, K, [KernelSetting(1e6)], parts)
    assert task.idle_error(parts) <= error <= 1.0


def test_clipping_is_consistent_between_training_and_prediction():
    K = sigmoid_kernel(X, gamma=0.5, coef0=-1.0)
    assert matrix_state(K) == "indefinite"
    parts = splits(CODE, 150, 1)
    found = errors_of(ClassificationTask(CODE, np.ones(2), "clip"), K, [KernelSetting(1.0)], parts, semidefinite=False)
    ((train, test),) = parts
    clipped, A = clipping(K[np.ix_(train, train)])
    machine = SVC(kernel="precomputed", tol=1e-5).fit(clipped, CODE[train])
    assert found[0] == pytest.approx(np.mean(machine.predict(K[np.ix_(test, train)] @ A) != CODE[test]), abs=0.021)


@pytest.mark.parametrize("indefinite", ["evolve", "clip", "reject"])
def test_an_indefinite_matrix_of_a_regression_is_judged(indefinite):
    y = scale(X @ np.arange(1.0, 7.0))
    K = rbf_kernel(X, gamma=0.2) - 0.5
    assert matrix_state(K) == "indefinite"
    task = RegressionTask(y, indefinite)
    errors = errors_of(task, K, [KernelSetting(1.0, epsilon=0.1)], splits(None, 150), semidefinite=False)
    plain = errors_of(task, rbf_kernel(X, gamma=0.2), [KernelSetting(1.0, epsilon=0.1)], splits(None, 150))
    assert errors[0] == pytest.approx(plain[0], abs=0.05)


def test_what_nothing_learnt_is_worth():
    code = np.array([0, 0, 0, 1])
    assert ClassificationTask(code, np.ones(2)).idle_error([]) == 0.25
    assert ClassificationTask(code, np.array([1.0, 6.0])).idle_error([]) == pytest.approx(1 / 3)
    y = np.array([1.0, 2.0, 3.0])
    assert RegressionTask(y).idle_error([]) == pytest.approx(np.std(y))


@pytest.mark.parametrize(("rows", "code"), [(X, CODE), (WINE, CULTIVAR)], ids=["two", "three"])
def test_the_ramp_loss_of_the_margins(rows, code):
    n_classes = code.max() + 1
    K, (part,) = rbf_kernel(rows, gamma=0.1), splits(code, len(rows), 1)
    train, test = part
    task = ClassificationTask(code, np.ones(n_classes), smoothness=0.3)
    found = task.scores(K, [KernelSetting(1.0)], [part])
    machine = SVC(kernel="precomputed", tol=1e-6, decision_function_shape="ovo").fit(K[np.ix_(train, train)], code[train])
    decisions = machine.decision_function(K[np.ix_(test, train)]).reshape(len(test), -1)
    ramps = []
    for row, c in zip(decisions, code[test], strict=True):
        if n_classes == 2:
            margins = [row[0] if c == 1 else -row[0]]
        else:
            pairs = [(0, 1), (0, 2), (1, 2)]
            margins = [f if c == i else -f for f, (i, j) in zip(row, pairs, strict=True) if c in (i, j)]
        ramps.append(np.mean([min(max((1 - m) / 2, 0), 1) for m in margins]))
    assert found.loss[0] == pytest.approx(0.7 * found.error[0] + 0.3 * np.mean(ramps), abs=2e-3)
    plain = ClassificationTask(code, np.ones(n_classes)).scores(K, [KernelSetting(1.0)], [part])
    np.testing.assert_array_equal(plain.loss, plain.error)
    np.testing.assert_array_equal(plain.error, found.error)


@pytest.mark.parametrize("strata", [None, np.repeat([0, 1, 2], [30, 20, 10])])
def test_a_third_is_held_out_of_every_class(strata):
    for train, test in holdouts(strata, 60, 1 / 3, 4, np.random.default_rng(0)):
        assert sorted([*train, *test]) == list(range(60))
        assert len(test) == 20
        if strata is not None:
            np.testing.assert_allclose(np.bincount(strata[test]), [10, 20 / 3, 10 / 3], atol=0.5)


@pytest.mark.parametrize(("n", "k", "parts"), [(60, 5, 5), (7, 5, 5), (3, 5, 3)])
def test_folds_predict_every_row_once(n, k, parts):
    found = folds(None, n, k, np.random.default_rng(0))
    assert len(found) == parts
    assert sorted(np.concatenate([test for _, test in found])) == list(range(n))
    for train, test in found:
        assert not set(train) & set(test)
        assert len(train) + len(test) == n
        assert len(test)


NORMAL = np.random.default_rng(0).normal(size=(60, 3))
INDEFINITE = sigmoid_kernel(NORMAL, gamma=0.8, coef0=-0.5)
LABELS = np.where(NORMAL[:, 0] * NORMAL[:, 1] > 0, 1.0, -1.0)
PRODUCTS = NORMAL[:, 0] * NORMAL[:, 1]


def target(z, epsilon):
    return Target(z, *symmetric_bounds(2.0, z, epsilon > 0), epsilon)


def objective(beta, t):
    return t.z @ beta - t.epsilon * np.abs(beta).sum() - 0.5 * beta @ INDEFINITE @ beta


@pytest.mark.parametrize(("z", "epsilon"), [(LABELS, 0.0), (PRODUCTS, 0.05)], ids=["classes", "regression"])
def test_more_searches_find_no_less(z, epsilon):
    assert matrix_state(INDEFINITE) == "indefinite"
    t = target(z, epsilon)
    one, many = (solve_indefinite(INDEFINITE, t, 1e-4, 5000, 0, searches) for searches in (1, 40))
    assert objective(many, t) >= objective(one, t) + (1.0 if epsilon else -1e-9)
    for beta in (one, many):
        assert abs(beta.sum()) < 1e-9
        assert (beta >= t.lower - 1e-12).all()
        assert (beta <= t.upper + 1e-12).all()
