"""Searches by a Kriging model: ours, and that of Koch et al. 2011.

It may import `spotsvm.solvers.search.contract` and `spotsvm.surrogates`.
"""
