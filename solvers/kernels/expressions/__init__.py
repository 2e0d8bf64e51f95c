"""Kernel functions as expression trees: data that are evaluated, printed as formulae and written to files."""

from spotsvm.solvers.kernels.expressions.evaluation import evaluate, evaluate_settings
from spotsvm.solvers.kernels.expressions.expression import BLOCKS, CONSTANTS, PAPER_BLOCKS, Expression
from spotsvm.solvers.kernels.expressions.inner_products import InnerProducts

__all__ = ["BLOCKS", "CONSTANTS", "PAPER_BLOCKS", "Expression", "InnerProducts", "evaluate", "evaluate_settings"]
