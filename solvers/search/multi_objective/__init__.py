"""Searches with several objectives: NSGA-II by pymoo, on Kriging models or without, and ParEGO.

It may import `spotsvm.solvers.search.contract` and `.kriging`.
"""
