"""The pipeline of a table and its space."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.svm import SVC, SVR

from spotsvm import (
    ExactSVC,
    Space,
    default_space,
)
from spotsvm.solvers.kernels import KERNELS
from spotsvm.tuning.pipelines.default_spaces import table_pipeline

EXPONENTS = {"C": (-5, 15), "gamma": (-15, 3), "epsilon": (-8, 0)}


@pytest.mark.parametrize(("task", "n"), [("classification", 2), ("regression", 3)])
def test_the_space_is_that_of_the_guide(task, n):
    pipeline, space = table_pipeline(task, 100)
    assert len(space) == n
    for name, distribution in space.items():
        assert np.log2(distribution.support()) == pytest.approx(EXPONENTS[name.rpartition("__")[2]])
    assert list(Space(space).names) == list(space)
    middle = {name: float(distribution.median()) for name, distribution in space.items()}
    assert clone(pipeline).set_params(**middle).get_params().items() >= middle.items()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_untouched_it_is_scikit_learns_default(task):
    given = table_pipeline(task, 100)[0].get_params(deep=True)
    machine = next(p for p in given.values() if isinstance(p, SVC | SVR)).get_params()
    default = (SVC() if task == "classification" else SVR()).get_params()
    changed = set() if task == "classification" else {"max_iter"}  # whose cross-validation can share its work, needs no cap
    assert {name for name in default if default[name] != machine[name]} == changed


def test_the_unit_of_the_target_does_not_matter():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    pipeline, space = table_pipeline("regression", 120)
    pipeline.set_params(**{name: float(distribution.median()) for name, distribution in space.items()})
    a = clone(pipeline).fit(X, y).predict(X)
    b = clone(pipeline).fit(X, 1e4 * y - 5e6).predict(X)
    assert (b + 5e6) / 1e4 == pytest.approx(a, rel=1e-3)
    assert np.corrcoef(a, y)[0, 1] > 0.5


@pytest.mark.parametrize(
    ("task", "n_samples", "cap"),
    [
        ("regression", 10, 100_000),
        ("regression", 500, 100_000),
        ("regression", 5_000, 1_000_000),
        ("classification", 10, -1),
        ("classification", 20_000, -1),
        ("classification", 20_001, 4_000_200),
    ],
)
def test_the_iterations_are_capped_where_work_cannot_be_shared(task, n_samples, cap):
    params = table_pipeline(task, n_samples)[0].get_params(deep=True)
    assert [v for k, v in params.items() if k.endswith("max_iter")] == [cap]


X, Y = make_classification(n_samples=60, n_features=4, random_state=0)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
def test_each_kernel_takes_its_parameters(kernel):
    machine = ExactSVC(kernel=kernel)
    space = default_space(machine)
    middle = {name: (3 if name == "degree" else float(law.median())) for name, law in space.items()}
    assert set(machine.set_params(**middle).fit(X, Y).predict(X)) == {0, 1}
    assert ("gamma" in space) == (kernel != "linear")
