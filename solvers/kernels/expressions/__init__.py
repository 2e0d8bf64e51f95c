"""Kernel functions as expression trees: data that are evaluated, printed as formulae and written to files."""

from solvers.kernels.expressions.blocks import BLOCKS, CONSTANTS, PAPER_BLOCKS
from solvers.kernels.expressions.evaluation import evaluate, evaluate_settings
from solvers.kernels.expressions.expression import Expression
from solvers.kernels.expressions.inner_products import InnerProducts

__all__ = ["BLOCKS", "CONSTANTS", "PAPER_BLOCKS", "Expression", "InnerProducts", "evaluate", "evaluate_settings"]
