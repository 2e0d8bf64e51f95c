"""Searches by a Kriging model: the library's own, and that of Koch et al. 2011.

It may import `spotsvm.solvers.search.contract` and `spotsvm.surrogates`.
"""
