"""The exact solvers of the dual: coordinate ascent, pairs of coordinates, Newton steps.

It may import `spotsvm.solvers.dual.problem`.
"""
