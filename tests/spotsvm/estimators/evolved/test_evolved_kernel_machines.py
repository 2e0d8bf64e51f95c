import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification, make_friedman1
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from spotsvm import EvolvedKernelSVC, EvolvedKernelSVR, ExactSVC, ExactSVR, ExpressionKernel
from spotsvm.errors import ArgumentError
from spotsvm.kernels import Expression

X, Y = make_classification(n_samples=120, n_features=5, n_informative=3, flip_y=0.05, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 5))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
TINY = {"n_trials": 6, "population_size": 4, "tournament_size": 2, "n_finalists": 2, "n_tuning_trials": 0, "n_holdouts": 1}
SMALL = {"n_trials": 24, "population_size": 8, "tournament_size": 4, "n_tuning_trials": 4, "random_state": 0}


@pytest.fixture(scope="module", params=["paper", "psd"])
def fitted(request):
    return EvolvedKernelSVC(grammar=request.param, **SMALL).fit(X, Y)


def test_what_is_found(fitted):
    assert isinstance(fitted.expression_, Expression)
    assert fitted.score(X, Y) > 0.85
    history = fitted.history_
    assert len(history) == fitted.n_evaluations_ == 24
    assert history["evaluation"].tolist() == list(range(24))
    assert set(history["matrix"]) <= {"semidefinite", "indefinite", "asymmetric", "not finite"}
    assert (history["best_error"].diff().dropna() <= 0).all()
    assert fitted.fitness_ in history["error"].to_numpy()
    assert (history["size"] >= 1).all()
    assert fitted.C_ > 0
    assert 0 < fitted.cv_error_ < 0.3
    if fitted.grammar == "paper":
        assert list(fitted.constants_) == list(fitted.expression_.constants)
        assert fitted.fitness_ == history["error"].min()
        np.testing.assert_array_equal(history["fitness"], history["error"])
    else:
        assert list(fitted.constants_.values()) == list(fitted.expression_.values)
        assert (history["fitness"] > history["loss"]).all()
        assert (history["matrix"] == "semidefinite").all()


def test_it_is_the_machine_with_that_kernel(fitted):
    kernel = ExpressionKernel(fitted.expression_, {n: v for n, v in fitted.constants_.items() if n.startswith("c")})
    assert kernel == fitted.kernel_function_
    plain = ExactSVC(kernel=kernel, C=fitted.C_).fit(X, Y)
    np.testing.assert_allclose(fitted.decision_function(X_NEW), plain.decision_function(X_NEW), atol=2e-3)
    np.testing.assert_array_equal(fitted.support_, plain.support_)
    assert fitted.formula_ == kernel.formula
    assert fitted.latex_ == kernel.latex


def test_a_class_of_weight_zero_is_left_out():
    machine = EvolvedKernelSVC(class_weight={0: 1.0, 1: 1.0, 2: 0.0}, **TINY).fit(WINE, CULTIVAR)
    assert machine.classes_.tolist() == [0, 1]


def test_overflow_is_the_death_of_an_individual_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = EvolvedKernelSVC(grammar="paper", constant_range=(1e100, 1e300), breeding_tries=50, **SMALL).fit(X, Y)
    assert machine.score(X, Y) > 0.6
    assert not np.isfinite(machine.history_["error"]).all()


@pytest.mark.parametrize(
    ("data", "y", "words"),
    [
        (X[:2], [0, 1], "one row of each class"),
        (X[:4], [1, 1, 1, 1], "one class"),
        (np.where(X > 2, np.nan, X), Y, "NaN"),
        (1e200 * X, Y, "mean squared norm of inf, too far from 1.*StandardScaler"),
        (1e-160 * X, Y, "mean squared norm of .*, too far from 1.*StandardScaler"),
    ],
)
@pytest.mark.parametrize("grammar", ["paper", "psd"])
def test_data_that_cannot_be_used(data, y, words, grammar):
    with pytest.raises(ValueError, match=words):
        EvolvedKernelSVC(grammar=grammar, **TINY).fit(data, y)


def test_a_class_with_one_row():
    y = np.where(np.arange(120) == 5, 2, Y)
    machine = EvolvedKernelSVC(**TINY, random_state=0).fit(X, y)
    assert machine.classes_.tolist() == [0, 1, 2]
    assert machine.predict(X).shape == (120,)


X_R, TARGET = make_friedman1(n_samples=90, n_features=5, noise=0.5, random_state=0)
X_R = 2 * X_R - 1
NEW_R = np.random.default_rng(1).uniform(-1, 1, size=(30, 5))


@pytest.fixture(scope="module", params=["paper", "psd"])
def regressor(request):
    return EvolvedKernelSVR(grammar=request.param, **SMALL).fit(X_R, TARGET)


def test_the_regressor_is_the_machine_with_that_kernel(regressor):
    plain = ExactSVR(kernel=regressor.kernel_function_, C=regressor.C_, epsilon=regressor.epsilon_).fit(X_R, TARGET)
    np.testing.assert_allclose(regressor.predict(NEW_R), plain.predict(NEW_R), atol=5e-2)
    assert regressor.epsilon_ > 0
    assert regressor.score(X_R, TARGET) > 0.5
    assert regressor.n_evaluations_ == 24


def test_a_target_in_other_units(regressor):
    scaled = clone(regressor).fit(X_R, 1024.0 * TARGET)
    assert scaled.formula_ == regressor.formula_
    assert scaled.C_ == pytest.approx(1024.0 * regressor.C_)
    assert scaled.epsilon_ == pytest.approx(1024.0 * regressor.epsilon_)
    assert scaled.fitness_ == pytest.approx(1024.0 * regressor.fitness_)


def test_a_constant_target():
    machine = EvolvedKernelSVR(**TINY, random_state=0).fit(X_R, np.full(90, 3.0))
    np.testing.assert_allclose(machine.predict(NEW_R), 3.0, atol=1e-6)


def test_a_target_whose_squares_overflow():
    with pytest.raises(ArgumentError, match="y has entries up to .*e\\+20., whose squares overflow"):
        EvolvedKernelSVR(**TINY).fit(X_R, 1e200 * TARGET)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="n_samples=1"):
        EvolvedKernelSVR(**TINY).fit(X_R[:1], TARGET[:1])


def test_there_is_no_coef():
    assert not hasattr(EvolvedKernelSVC(**TINY, random_state=0).fit(X, Y), "coef_")


def test_columns_without_content():
    constant = np.ones((120, 3))
    assert EvolvedKernelSVC(**TINY, random_state=0).fit(constant, Y).score(constant, Y) >= 0.5
    assert EvolvedKernelSVC(**TINY, random_state=0).fit(0 * constant, Y).score(0 * constant, Y) >= 0.5
    assert EvolvedKernelSVC(**TINY, random_state=0).fit(np.c_[X, constant], Y).score(np.c_[X, constant], Y) > 0.7


def test_better_than_a_line():
    ours = EvolvedKernelSVR(**SMALL).fit(X_R[:60], TARGET[:60]).score(X_R[60:], TARGET[60:])
    assert ours > SVR(kernel="linear").fit(X_R[:60], TARGET[:60]).score(X_R[60:], TARGET[60:]) + 0.02
