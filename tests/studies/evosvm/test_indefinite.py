import numpy as np
import pandas as pd
import pytest

from spotsvm.solvers.dual import make_problem
from spotsvm.solvers.dual.problem.spectrum import is_concave
from spotsvm.studies.evosvm.indefinite import KERNELS, SAME, IndefiniteStudy, cases_of, libsvm
from tests.studies.small import ran


@pytest.fixture(scope="module")
def quick():
    return ran("indefinite")


def test_no_objective_is_below_libsvms_and_every_case_counts_once(quick):
    runs = quick.frame()
    assert len(runs) == 6
    assert (runs.gain >= -SAME).all()
    assert (runs.ours_violation <= 1e-3 + 1e-9).all()
    assert runs.ours_converged.all()
    table = quick.table()
    assert table.kernel.tolist() == [*quick.frame().kernel.unique(), "all"]
    for counts in (["objective better", "equal", "worse"], ["fewer errors", "same errors", "more errors"]):
        assert (table[counts].sum(axis=1) == table.cases).all()
    total = table.iloc[-1]
    assert (table.iloc[:-1][["cases", "equal", "more errors"]].sum() == total[["cases", "equal", "more errors"]]).all()


def test_no_accuracy_is_claimed_where_none_is_shown(quick):
    assert "so no difference in accuracy is claimed" in quick.conclusion()
    better = IndefiniteStudy(quick=True)
    runs = pd.concat([quick.frame().assign(data_set=f"set {k}", ours_errors=0, libsvm_errors=1) for k in range(5)])
    better._frame = runs.reset_index(drop=True)
    assert "so the memetic solver's solutions predict better here" in better.conclusion()
    better._frame = better._frame.assign(ours_errors=2)
    assert "so LIBSVM's solutions predict better here" in better.conclusion()


def test_kernels_are_mostly_indefinite_and_libsvms_solution_is_feasible():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.resize([1.0, -1.0], 60)
    cases = list(cases_of("drawn", X, y, 0, list(KERNELS)))
    assert [case.kernel for case in cases] == list(KERNELS)
    concave = []
    for case in cases:
        assert case.K.shape == (40, 40)
        assert case.K_test.shape == (20, 40)
        np.testing.assert_array_equal(case.K, case.K.T)
        concave.append(is_concave(make_problem(case.K, case.y, 1.0, bias=True)))
    assert sum(concave) <= 1  # the difference of Gaussians, on some data
    case = next(cases_of("drawn", X, y, 0, ["Epanechnikov"]))
    problem = make_problem(case.K, case.y, 2.0, bias=True)
    alpha, iterations, ended = libsvm(problem, 2.0)
    assert ended
    assert iterations > 0
    assert ((alpha >= 0) & (alpha <= 2.0)).all()
    assert abs(alpha @ problem.y) < 1e-9
    assert problem.kkt(alpha, problem.decision(alpha))[0] < 2e-3
