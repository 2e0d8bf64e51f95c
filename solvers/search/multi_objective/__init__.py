"""Searches with several objectives: NSGA-II by pymoo, and ParEGO.

It may import `spotsvm.solvers.search.contract` and `.kriging`.
"""
