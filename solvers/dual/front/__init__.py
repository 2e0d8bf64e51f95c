"""The front of margin against training error.

It may import all else of `spotsvm.solvers.dual` and `spotsvm.solvers.pareto`.
"""
