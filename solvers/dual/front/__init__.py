"""The Pareto front of margin and training error.

It may import all other packages of `spotsvm.solvers.dual` and `spotsvm.solvers.pareto`.
"""
