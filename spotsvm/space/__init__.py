"""Named parameters with their distributions, and the unit cube in which searches move.

It may import common, `spotsvm.solvers` and `spotsvm.surrogates`.
"""
