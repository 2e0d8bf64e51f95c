"""CMA-ES on the unit cube, with restarts and categorical coordinates.

It may import `spotsvm.solvers.search.contract`.
"""
