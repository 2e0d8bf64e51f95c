"""The dual problem of support vector machines: exact, evolutionary and swarm solvers on a kernel matrix."""

from spotsvm.solvers.dual.problem.problem import DualProblem, make_problem
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.regression import solve_dual_regression
from spotsvm.solvers.dual.solve import solve_dual

__all__ = ["DualProblem", "DualResult", "make_problem", "solve_dual", "solve_dual_regression"]
