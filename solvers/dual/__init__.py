"""The dual problem of support vector machines: exact, evolutionary and swarm solvers on a kernel matrix."""

from solvers.dual.problem import DualProblem, make_problem
from solvers.dual.regression import solve_dual_regression
from solvers.dual.result import DualResult
from solvers.dual.solve import solve_dual

__all__ = ["DualProblem", "DualResult", "make_problem", "solve_dual", "solve_dual_regression"]
