"""Columns and kernels against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.preprocessing import PowerTransformer, StandardScaler

from spotsvm.solvers.kernels import base_matrix
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.families import FAMILIES, kernel_of, typical_distance, unit_of
from spotsvm.tuned.powers import best_powers, yeo_johnson
from spotsvm.tuned.relevance import gradient_relevance
from spotsvm.tuned.sweeps import Sweep

RNG = np.random.default_rng(0)
X = np.column_stack(
    [RNG.normal(size=150), RNG.exponential(size=150) ** 2, -RNG.exponential(size=150), RNG.normal(3, 1e-3, size=150)]
)
T = X[:, :1]
ALL = ("standard", "power", "relevance")


def test_the_standard_columns_are_those_of_standard_scaler():
    columns = Columns(ALL).fit(X[:100], T[:100])
    assert columns.transform(X)["standard"]["standard"] == pytest.approx(StandardScaler().fit(X[:100]).transform(X))


def test_powers_are_nearly_those_of_the_largest_likelihood():
    Z = StandardScaler().fit_transform(X)
    assert best_powers(Z) == pytest.approx(PowerTransformer(standardize=False).fit(Z).lambdas_, abs=0.2)
    powers = PowerTransformer(standardize=False).fit(Z).lambdas_
    assert yeo_johnson(Z, powers) == pytest.approx(PowerTransformer(standardize=False).fit_transform(Z))
    power = Columns(ALL).fit(X, T).transform(X)["standard"]["power"]
    assert power.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert power.std(axis=0) == pytest.approx(1)


def test_relevance_finds_the_columns_that_matter_also_where_their_effect_is_no_line():
    A = np.random.default_rng(1).normal(size=(200, 5))
    relevance = gradient_relevance(A, np.cos(2 * A[:, :1]) + A[:, 1:2])
    assert set(np.argsort(relevance)[-2:]) == {0, 1}
    assert relevance[2:].max() < 0.5 * relevance[:2].min()
    assert (relevance**2).mean() == pytest.approx(1.03)
    assert gradient_relevance(A, np.ones((200, 1))) == pytest.approx(np.sqrt(0.03))


def test_constant_columns_are_0_whatever_later_rows_have():
    constant = np.column_stack([X, np.full(len(X), 0.1), np.full(len(X), 1e9)])
    columns = Columns(ALL).fit(constant, T)
    later = constant.copy()
    later[:, 4:] += 7
    for values in columns.transform(later)["standard"].values():
        assert (values[:, 4:] == 0).all()
        assert np.isfinite(values).all()


def test_far_values_are_cut():
    columns = Columns(ALL).fit(X, T)
    for values in columns.transform(np.array([[1e300, -1e300, 1e300, -1e300]]))["standard"].values():
        assert np.isfinite(values).all()
        assert np.abs(values).max() <= 50 * np.sqrt(len(X))


def test_gaps_become_medians_and_a_column():
    gappy = X.copy()
    gappy[::7, 1] = np.nan
    columns = Columns(("standard",)).fit(gappy, T)
    found = columns.transform(gappy)["standard"]["standard"]
    assert found.shape == (150, 5)
    assert len(np.unique(found[::7, 1])) == 1
    assert len(np.unique(found[:, 4])) == 2


def test_a_table_is_encoded():
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue", "green"])[np.arange(150) % 3], "same": "x"})
    assert Columns(ALL).fit(frame, T).transform(frame)["standard"]["relevance"].shape == (150, 4)


def test_kernels_are_scikit_learns():
    A, B = RNG.normal(size=(20, 3)), RNG.normal(size=(15, 3))
    for kernel, theirs in (("rbf", rbf_kernel), ("laplacian", laplacian_kernel)):
        base = FAMILIES[kernel].base
        unit = unit_of(kernel, A)
        found = kernel_of(kernel, unit, -1.0).of(base_matrix(base, A, B))
        assert found == pytest.approx(theirs(A, B, gamma=0.5 / unit))
    inner = base_matrix(FAMILIES["linear"].base, A)
    assert np.trace(kernel_of("linear", unit_of("linear", A), -3.0).of(inner.copy())) == pytest.approx(len(A))


def test_sparse_rows_have_the_kernels_of_dense_ones():
    dense = X * (RNG.random(X.shape) < 0.5)
    rows = sparse.csr_matrix(dense)
    A = Columns(("standard",)).fit(dense, T).transform(dense)["standard"]["standard"]
    S = Columns(("standard",)).fit(rows, T).transform(rows)["standard"]["standard"]
    assert sparse.issparse(S)
    assert base_matrix("squared distances", S) == pytest.approx(base_matrix("squared distances", A), abs=1e-6)
    for base in ("squared distances", "inner products"):
        assert base_matrix(base, S, S[:9]) == pytest.approx(base_matrix(base, S.toarray(), S[:9].toarray()), abs=1e-6)


def test_the_typical_distance_is_that_of_different_rows():
    assert typical_distance(np.array([[0.0, 4.0], [4.0, 0.0]])) == 2.0
    mostly_equal = np.zeros((9, 9))
    mostly_equal[0, 1:] = mostly_equal[1:, 0] = 3.0
    assert typical_distance(mostly_equal) == 3.0
    assert typical_distance(np.zeros((4, 4))) == 1.0


def test_columns_with_factors_and_an_exponent_of_relevance():
    frame = pd.DataFrame({"a": X[:, 0], "kind": ["u", "v", "w"] * 50, "b": X[:, 1]})
    columns = Columns(ALL).fit(frame, T)
    views = columns.transform(frame)
    of_kind = views["standard"]

    def columns_for(family, exponent=1.0, factors=()):
        return columns.kernel_columns(views, Sweep(family, 0.0, exponent=exponent, column_factors=factors))

    assert (columns_for("relevance_rbf") == of_kind["relevance"]).all()
    assert columns_for("relevance_rbf", 0.0) == pytest.approx(of_kind["power"])
    factors = columns_for("power_rbf", factors=(2.0, 3.0, 5.0)) / of_kind["power"]
    assert factors == pytest.approx(np.broadcast_to([2.0, 5.0, 3.0, 3.0, 3.0], factors.shape))
