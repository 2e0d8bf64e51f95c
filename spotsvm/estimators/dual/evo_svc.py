"""EvoSVC: a support vector classifier whose dual is solved by evolution or a swarm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from spotsvm.common.checks import check_choice, check_count
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svc import DualSVC
from spotsvm.estimators.dual.kernel_machine import check_max_iter
from spotsvm.solvers.dual.evolution.evolution import EvolutionSettings
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings
from spotsvm.solvers.dual.evolution.swarm import SwarmSettings
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.solve import solve_dual

METHODS = ("memetic", "gaussian", "switching", "hybrid", "two_stage", "swarm", "exact")


@dataclass(eq=False, repr=False, kw_only=True)
class EvoSVC(DualSVC):
    """Support vector classification by evolution on the dual, for any kernel, indefinite ones included.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors, positive and finite.
    kernel : str or callable, default="rbf"
        As in `ExactSVC`.
    method : {"memetic", "gaussian", "switching", "hybrid", "two_stage", "swarm", "exact"}, default="memetic"
        How the dual is solved. Gaussian, switching and hybrid mutation and the swarm are the paper's EvoSVM-G, -S, -H and
        PsoSVM; they stop far from the optimum. "two_stage" is switching until it ends, then Gaussian mutation of the values
        that are not at the same bound in all individuals, as the paper proposes at its end; it ends nearer to the optimum
        than switching. "memetic" is evolution with exact steps: for an indefinite kernel its objective is never below theirs;
        for a concave problem it reaches the optimum.
    degree, gamma, coef0, sigma
        Parameters of the kernel, as in `ExactSVC`.
    bias : bool or "after", default=False
        Whether there is a threshold b. False: none, as in the paper. "after": the dual is solved without a threshold, and b
        is the mean of y minus the decision over the rows with 0 < alpha < C, as in the paper's software; with "switching" and
        "hybrid" the errors are then nearest to the published errors (study evosvm). If no row is so, b is the middle of the
        thresholds that agree with the solution, as in LIBSVM; the paper's software takes the mean over the rows with alpha =
        0. True: the dual with a threshold, only with "memetic" or "exact". Use True with indefinite kernels: without a
        threshold these often predict much worse.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which exact steps stop, positive; "memetic" aims at 1e-6 or less
        where the problem is concave.
    cache_size : float, default=200
        As in `ExactSVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    max_iter : int, default=-1
        Cap on the generations, 1 or more; -1 for the method's own, 1000. For "exact" it caps the solver's steps, for "memetic"
        the steps of its first and last local search. At the cap a ConvergenceWarning is given.
    n_iter_no_change : int, default=5
        Stop after this many generations without improvement. "memetic" and "exact" do not use it;
        "two_stage" uses it in each stage.
    population_size : int or None, default=None
        Number of individuals, particles or, with "memetic", stored local solutions, 1 or more; None for 10, or 8
        with "memetic". "exact" has none.
    crossover_probability : float, default=0.9
        Share of the couples that are crossed, from 0 to 1; "gaussian", "switching", "hybrid" and "two_stage" use it.
    tournament_share : float, default=0.25
        Share of the individuals in a tournament, positive; the number is rounded up. The same methods use it.
    inertia : float, default=0.1
        First weight of the velocity of "swarm", 0 or more; it falls to zero in equal steps over the generations of `max_iter`.
    local_weight, global_weight : float, default=1.0
        Pulls of "swarm" towards the best position of a particle, and towards the best position of all particles, 0 or more.
    pulls : {"uniform", "gaussian"}, default="gaussian"
        Random factors of the pulls of "swarm": normal numbers with mean and standard deviation 1, or uniform ones from 0 to 1.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        As in `ExactSVC`.
    break_ties : bool, default=False
        As in `ExactSVC`.
    random_state : int, RandomState or None, default=None
        Seed of the evolution.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, \
n_features_in_, feature_names_in_
        As SVC has them; `n_iter_` counts generations; for "exact" the solver's steps, for "memetic" the steps of all its local
        searches.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective reached for each pair of classes; it is maximised.
    kernel_ : spotsvm.solvers.kernels.Kernel
        The kernel, its gamma a number.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    See Also
    --------
    ExactSVC : The exact solution, for kernels that are positive semidefinite.
    MarginErrorFront : All trade-offs of margin and error at once.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels: A Generic Solution for Large Margin Problems", section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = EvoSVC(gamma=0.5, random_state=0).fit(X, y)
    >>> bool(machine.score(X, y) > 0.95)
    True
    """

    C: float = 1.0
    kernel: Any = "rbf"
    method: Literal["memetic", "gaussian", "switching", "hybrid", "two_stage", "swarm", "exact"] = "memetic"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    bias: bool | Literal["after"] = False
    tol: float = 1e-3
    cache_size: float = 200
    class_weight: Any = None
    max_iter: int = -1
    n_iter_no_change: int = 5
    population_size: int | None = None
    crossover_probability: float = 0.9
    tournament_share: float = 0.25
    inertia: float = 0.1
    local_weight: float = 1.0
    global_weight: float = 1.0
    pulls: Literal["uniform", "gaussian"] = "gaussian"
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = False
    sigma: float | None = None
    random_state: Any = None

    def _check_parameters(self) -> tuple[float, int | None]:
        check_choice("method", self.method, METHODS)
        self._settings()
        return super()._check_parameters()

    def _pair_seeds(self, n_pairs: int) -> list[int]:
        seeds: list[int] = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n_pairs).tolist()
        return seeds

    def _solve_pair(self, K: Floats, labels: Floats, bounds: Floats, seed: int) -> DualResult:
        return solve_dual(
            K,
            labels,
            bounds,
            self.method,
            bias=self.bias,
            random_state=seed,
            definite=True if self.kernel_.positive_semidefinite else None,
            tol=self.tol,
            max_iter=check_max_iter(self.max_iter),
            settings=self._settings(),
        )

    def _settings(self) -> EvolutionSettings | SwarmSettings | MemeticSettings | None:
        """Check the parameters of all methods, and return the settings of the one that is used."""
        size: dict[str, Any] = {} if self.population_size is None else {"population_size": self.population_size}
        check_count("n_iter_no_change", self.n_iter_no_change)
        evolution = EvolutionSettings(
            patience=self.n_iter_no_change,
            crossover_probability=self.crossover_probability,
            tournament_share=self.tournament_share,
            **size,
        )
        swarm = SwarmSettings(
            patience=self.n_iter_no_change,
            inertia=self.inertia,
            local_weight=self.local_weight,
            global_weight=self.global_weight,
            pulls=self.pulls,
            **size,
        )
        settings = {"exact": None, "memetic": MemeticSettings(**size), "swarm": swarm}
        return settings.get(self.method, evolution)
