"""Variable neighbourhood search.

It may import `spotsvm.solvers.search.contract`.
"""
