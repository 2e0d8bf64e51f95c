"""L-BFGS-B with finite differences and restarts.

It may import `spotsvm.solvers.search.contract`.
"""
