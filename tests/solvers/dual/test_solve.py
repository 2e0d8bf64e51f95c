import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from spotsvm.errors import SolverError
from spotsvm.solvers.dual import solve_dual
from spotsvm.solvers.dual.evolution import _evolution_kernels
from spotsvm.solvers.dual.evolution.evolution import KINDS, EvolutionSettings
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings
from spotsvm.solvers.dual.evolution.swarm import SwarmSettings
from spotsvm.solvers.dual.exact import _coordinate_kernels, _face_kernels, _fold_kernels, _smo_kernels
from spotsvm.solvers.dual.solve import METHODS
from spotsvm.solvers.kernels.matrices import _single_kernels

SEEDS = st.integers(0, 10_000)
MODULES = [_coordinate_kernels, _evolution_kernels, _face_kernels, _fold_kernels, _smo_kernels, _single_kernels]
COMPILED = sorted({f for m in MODULES for f in vars(m).values() if isinstance(f, CPUDispatcher)}, key=lambda f: f.__name__)
BRIEF = {
    "memetic": MemeticSettings(searches=5, rivals=False),
    "swarm": SwarmSettings(max_generations=20),
    **{name: EvolutionSettings(max_generations=20) for name in KINDS},
}


def solve(problem, method, **options):
    options.setdefault("settings", BRIEF.get(method))
    return solve_dual(problem.K, problem.y, problem.C, method, bias=problem.bias, **options)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(METHODS), st.sampled_from(["rbf", "linear", "sigmoid"]), st.sampled_from([0.1, 10.0]))
def test_what_is_reported_is_what_was_found(drawn, seed, method, kind, C):
    bias = method in ("exact", "memetic", "auto") and seed % 2 == 0
    problem = drawn(seed, 20, kind, C, bias)
    found = solve(problem, method, random_state=seed)
    assert (found.alpha >= 0).all()
    assert (found.alpha <= C).all()
    K, y, alpha = problem.K, problem.y, found.alpha
    f = K @ (alpha * y)
    assert found.objective == pytest.approx(alpha.sum() - 0.5 * (alpha * y) @ f, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(found.decision, f + found.bias, rtol=1e-12, atol=1e-12)
    assert bias or found.bias == 0.0
    primal = 0.5 * (alpha * y) @ f + C * np.maximum(0, 1 - y * found.decision).sum()
    assert found.duality_gap == pytest.approx(primal - found.objective, abs=1e-10 * abs(primal))
    assert found.kkt_violation == pytest.approx(problem.kkt(alpha, f)[0], abs=1e-9)
    assert found.iterations >= 0
    assert found.evaluations >= found.iterations
    assert isinstance(found.converged, bool)
    assert found.message
    if method == "exact":
        assert found.converged == (found.kkt_violation <= 1e-3 + 1e-9)
    if bias:
        assert abs(alpha @ y) <= 1e-12 * C


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("kind", "semidefinite"), [("rbf", True), ("linear", True), ("sigmoid", False), ("wavy", False)])
def test_auto_is_exact_where_k_is_semidefinite_and_memetic_where_not(drawn, kind, semidefinite, bias):
    problem = drawn(0, 30, kind, 2.0, bias)
    assert (np.linalg.eigvalsh(problem.K)[0] > -1e-10) == semidefinite
    found = solve(problem, "auto", random_state=0, settings=BRIEF["memetic"])
    assert ("best of 5 local searches" in found.message) != semidefinite
    named = solve(problem, "exact" if semidefinite else "memetic", random_state=0)
    np.testing.assert_array_equal(found.alpha, named.alpha)


def test_definite_is_believed(drawn):
    for kind, definite in (("sigmoid", True), ("rbf", False)):
        problem = drawn(0, 30, kind, 2.0, True)
        for method in ("auto", "memetic"):
            found = solve(problem, method, definite=definite, settings=BRIEF["memetic"])
            assert ("local searches" not in found.message) == definite


@pytest.mark.parametrize("bias", [True, False])
def test_start_tol_and_cap_are_honoured(drawn, bias):
    problem = drawn(2, 80, "rbf", 10.0, bias)
    fine = solve(problem, "exact", tol=1e-8)
    assert solve(problem, "exact", tol=1e-1).iterations < fine.iterations
    assert solve(problem, "exact", start=fine.alpha).iterations <= 2
    assert solve(problem, "exact", start=fine.alpha.tolist(), tol=1e-6).objective == pytest.approx(fine.objective, rel=1e-10)
    capped = solve(problem, "exact", max_iter=5)
    assert (capped.iterations, capped.converged) == (5, False)


@pytest.mark.parametrize("method", [*KINDS, "swarm"])
def test_max_iter_caps_generations(drawn, method):
    problem = drawn(2, 40, "rbf", 10.0)
    found = solve_dual(problem.K, problem.y, problem.C, method, max_iter=3, random_state=0)
    assert found.iterations <= 3
    assert not found.converged
    assert solve(problem, method, random_state=0, settings=type(BRIEF[method])(max_generations=3)).objective == found.objective


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_every_method_takes_two_rows(method, C):
    found = solve_dual([[1.0, 0.2], [0.2, 1.0]], [1, -1], C, method, random_state=0)
    assert 0.0 <= found.alpha.min() <= found.alpha.max() <= C
    best = min(C, 1 / 0.8)
    assert found.objective <= 2 * best - 0.8 * best**2 + 1e-9
    if method in ("exact", "memetic", "auto"):
        np.testing.assert_allclose(found.alpha, best, rtol=2e-3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"method": "newton"}, "method='newton'; use one of 'auto', 'exact', 'memetic'"),
        (
            {"method": "swarm", "bias": True},
            "bias=True with method='swarm'.*use bias='after' .* or the method 'exact' or 'memetic'",
        ),
        ({"tol": 0.0}, "tol=0.0; use a positive number"),
        ({"tol": np.nan}, "tol=nan"),
        ({"tol": "fine"}, "tol='fine'"),
        ({"max_iter": 0}, "max_iter=0; use 1 or more"),
        ({"max_iter": "many"}, "max_iter='many'"),
        ({"start": [1.0]}, r"start must be 3 finite numbers.*\(1,\)"),
        ({"start": [0.0, np.nan, 0.0]}, "start must be 3 finite numbers"),
        ({"start": ["a", "b", "c"]}, "^start "),
        ({"y": [1, 1, 1]}, "y holds the one class"),
        ({"tol": 10**400}, "tol=10+; use a positive number"),
        ({"max_iter": True}, "max_iter=True; use 1 or more"),
        ({"bias": "no"}, "bias='no'; use True, False or 'after'"),
        ({"definite": "yes"}, "definite='yes'; use True or False"),
        ({"method": np.array(["exact", "swarm"])}, "method=array.*; use one of 'auto'"),
        ({"start": 1j * np.ones(3)}, "start must be 3 finite numbers; its entries are complex"),
        ({"start": np.zeros(3), "method": "memetic"}, "start is set, but method='memetic' does not use it"),
        ({"settings": MemeticSettings()}, "settings=MemeticSettings.* with method='exact', which has no settings; use None"),
        ({"settings": SwarmSettings(), "method": "auto"}, "settings=SwarmSettings.*; this method takes MemeticSettings"),
        ({"C": 1e300}, "C=1e[+]300 is so large that the objective overflows; use a smaller one .1e6 is a hard margin"),
        ({"C": [1.0, 1e90, 1.0], "K": 1e140 * np.eye(3), "method": "swarm"}, "C=1e[+]90 is so large that the objective"),
        ({"C": np.inf}, "C=inf"),
        ({"K": np.ones((3, 2))}, r"K has shape \(3, 2\)"),
    ],
)
def test_bad_arguments_are_told(arguments, said):
    with pytest.raises(SolverError, match=said):
        solve_dual(**{"K": np.eye(3), "y": [1, -1, 1], "C": 1.0, "method": "exact", **arguments})


@pytest.mark.parametrize("method", ["auto", "exact", "memetic"])
def test_a_threshold_after_training_by_hand(method):
    # alpha = C, so f = (0.25, -0.75): at the margins or within for -0.25 <= b <= 0.75, whose middle is 0.25
    found = solve_dual(np.diag([1.0, 3.0]), [1, -1], 0.25, method, bias="after")
    assert found.bias == pytest.approx(0.25)
    np.testing.assert_allclose(found.decision, [0.5, -0.5])
    without = solve_dual(np.diag([1.0, 3.0]), [1, -1], 0.25, method)
    assert (without.bias, without.objective, without.duality_gap) == (0.0, found.objective, found.duality_gap)


@pytest.mark.parametrize(
    ("K", "C", "bias"),
    [(1e-300 * np.eye(4), 1e-300, True), (1e140 * (np.ones((4, 4)) - 2 * np.eye(4)), 1.0, False)],
)
@pytest.mark.parametrize("method", ["exact", "memetic", "auto"])
def test_what_is_not_solved_is_not_called_so(K, C, bias, method):
    found = solve_dual(K, [1, -1, 1, -1], C, method, bias=bias, random_state=0)
    assert np.isfinite(found.objective)
    assert (found.alpha <= C).all()
    if bias:
        assert abs(found.alpha @ [1, -1, 1, -1]) <= 1e-12 * C
    if method == "exact":
        assert not found.converged
    assert found.converged == (found.kkt_violation <= 1e-3)
    assert found.converged or "not converged" in found.message or "above tol=0.001" in found.message


@pytest.mark.parametrize("factor", [1e-100, 1e-12, 1e12, 1e100])
@pytest.mark.parametrize("bias", [True, False])
def test_moderate_scales_of_the_kernel_are_solved(drawn, factor, bias):
    problem = drawn(1, 30, "rbf", 1.0, bias)
    for C in (0.3, 30.0):
        one = solve_dual(problem.K, problem.y, C, "exact", bias=bias)
        other = solve_dual(factor * problem.K, problem.y, C / factor, "exact", bias=bias)
        assert other.converged
        assert other.kkt_violation <= 1e-3 * (1 + 1e-9)
        assert other.objective * factor == pytest.approx(one.objective, rel=1e-3)


@pytest.mark.parametrize("compiled", COMPILED, ids=lambda f: f.__name__)
def test_kernels_release_the_gil_and_are_cached(compiled):
    assert compiled.targetoptions["nogil"]
    assert not isinstance(compiled._cache, NullCache)
    assert {"smo", "solve", "descend_face", "pair_ascent", "fill_gaussian"} <= {f.__name__ for f in COMPILED}


@pytest.mark.parametrize("package", ["spotsvm.solvers.dual", "spotsvm.solvers.kernels"])
def test_the_compiler_is_loaded_when_it_is_needed(package):
    code = f"import sys, {package}; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
