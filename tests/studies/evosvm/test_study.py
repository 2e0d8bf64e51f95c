import numpy as np
import pandas as pd
import pytest

from spotsvm import solve_dual
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels.matrices.gram import kernel_matrix
from spotsvm.studies.common.data import stand_ins
from spotsvm.studies.evosvm.folds import AFTER, EVOLVED, METHODS, PRINTED_AS, folds_of
from spotsvm.studies.evosvm.printed import COSTS, DATA_SETS, DEFAULT_ERROR, ERRORS, F_TESTS, LEARNERS, SIGMA, implied_f
from spotsvm.studies.evosvm.tables import cells, f_test, on_printed
from tests.studies.small import ran


@pytest.fixture(scope="module")
def study():
    return ran("evosvm")


def test_every_method_on_every_fold_and_in_the_table(study):
    runs = study.frame()
    assert len(runs) == 2 * 4 * len(METHODS)
    assert runs.error.between(0, 100).all()
    assert (runs.seconds > 0).all()
    assert (runs.optimum_share <= 1 + 1e-6).all()
    shares = study.table().pivot(index="data set", columns="method", values="lowest share")
    assert (shares[["memetic", "exact"]] > 0.999).all(axis=None)
    assert (shares[[*EVOLVED, *AFTER.values()]] < 0.99).all(axis=None)
    np.testing.assert_allclose(shares["exact, bias"], shares["LIBSVM"], rtol=1e-3)
    table = study.table()
    assert table.columns.tolist() == [
        *("data set", "C", "method", "error", "sd", "printed error", "printed sd"),
        *("time / LIBSVM", "share of optimum", "lowest share", "generations", "ended by itself"),
    ]
    assert table.method.tolist() == 2 * list(METHODS)
    assert (table[table.method == "LIBSVM"]["time / LIBSVM"] == 1).all()
    errors = runs[(runs.data_set == "iris") & (runs.method == "hybrid")].error
    cell = table[(table["data set"] == "iris") & (table.method == "hybrid")].iloc[0]
    assert cell["error"] == pytest.approx(errors.mean())
    assert cell["sd"] == pytest.approx(np.std(errors, ddof=1))


def test_a_threshold_after_training_is_solve_dual_s(study):
    runs = study.frame().set_index(["data_set", "fold", "method"])
    for data in stand_ins():
        for fold, (train, test) in enumerate(folds_of(data, 4)):
            kernel, y = Kernel("rbf", gamma=0.1), data.y[train]
            K, K_test = gram_matrix(kernel, data.X[train]), kernel_matrix(kernel, data.X[test], data.X[train])
            found = solve_dual(K, y, 1.0, "hybrid", bias="after", random_state=fold)
            wrong = (K_test @ (found.alpha * y) + found.bias > 0) != (data.y[test] > 0)
            row = runs.loc[(data.name, fold, "hybrid, b after")]
            assert row.error == pytest.approx(100 * np.mean(wrong))
            assert row.optimum_share == runs.loc[(data.name, fold, "hybrid")].optimum_share


def runs_as_printed(offset, with_threshold):
    """Every method as printed, in two folds, but for an offset."""
    rows = []
    for (cost, data_set, learner), (error, deviation) in ERRORS.items():
        for method in (name for name, printed in PRINTED_AS.items() if printed == learner):
            for fold, sign in enumerate((-1, 1)):
                measured = error + offset + with_threshold * (method in AFTER.values()) + sign * deviation / np.sqrt(2)
                rows.append((data_set, cost, fold, method, measured, 1.0, 1.0, 1, True))
    measured = ["error", "seconds", "optimum_share", "generations", "converged"]
    return pd.DataFrame(rows, columns=["data_set", "C", "fold", "method", *measured])


def test_what_is_said_of_the_thresholds_follows_from_the_figures():
    for offset, with_threshold, verdict in (
        (5.0, -5.0, "hybrid 5.0 and 0.0: b after is nearer"),
        (0.0, 5.0, "hybrid 0.0 and 5.0: b = 0 is nearer"),
        (5.0, 0.0, "hybrid 5.0 and 5.0: no difference"),
    ):
        runs = runs_as_printed(offset, with_threshold)
        text = on_printed(runs, cells(runs))
        assert verdict in text
        assert f"together, 36 cells: {offset:.1f} and {offset + with_threshold:.1f}." in text
        assert "are about 1.0 times ours" in text
    assert on_printed(runs, cells(runs.assign(data_set="unknown"))) == ""


def test_printed_figures_and_f_tests():
    assert set(PRINTED_AS.values()) == set(LEARNERS)
    assert set(PRINTED_AS) <= set(METHODS)
    assert len(ERRORS) == len(COSTS) * len(DATA_SETS) * len(LEARNERS)
    known = {(1.0, "liver", "EvoSVM-G"): (34.71, 8.60), (1.0, "crabs", "LibSVM"): (3.00, 4.58)}
    known |= {(0.1, "lupus", "EvoSVM-H"): (26.51, 13.03), (0.1, "sonar", "mySVM"): (46.62, 1.62)}
    known |= {(0.01, "sonar", "PsoSVM"): (27.90, 6.28), (0.01, "lawsuit", "EvoSVM-S"): (7.17, 2.55)}
    assert {key: ERRORS[key] for key in known} == known
    for data_set in ("liver", "ionosphere", "sonar", "lawsuit", "lupus"):
        assert ERRORS[0.01, data_set, "mySVM"][0] == DEFAULT_ERROR[data_set]
    assert F_TESTS[1.0, "ionosphere"] == (9.78, 0.00)
    assert F_TESTS[0.01, "crabs"] == (1095.94, 0.00)
    assert SIGMA["lupus"] == 0.001
    assert DEFAULT_ERROR["sonar"] == 46.62
    # by hand: 20 var(34.71, 35.37, 34.97, 34.78, 33.62, 32.72) / mean of the squared deviations
    assert implied_f(1.0, "liver") == pytest.approx(20 * 0.9857 / 40.12, rel=1e-3)
    one, two = [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]
    between, within = 3 * np.var([2.0, 4.0], ddof=1), np.mean([np.var(one, ddof=1), np.var(two, ddof=1)])
    assert f_test([one, two])[0] == pytest.approx(between / within)
    assert f_test([one, one]) == (0.0, 1.0)
    assert f_test([[5.0, 5.0], [5.0, 5.0]]) == (0.0, 1.0)
    assert f_test([[5.0, 5.0], [6.0, 6.0]]) == (np.inf, 0.0)


def test_memetic_is_at_the_optimum(study):
    assert study.memetic()["data set"].tolist() == ["breast cancer", "iris"]
    assert (study.memetic()["missing share of the optimum"] < 1e-3).all()
    assert (study.memetic()["ratio"] > 0).all()
