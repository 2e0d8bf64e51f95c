"""Kernel matrices on data: whole, by blocks, cached, in single and double precision.

It may import `spotsvm.solvers.kernels.functions`.
"""
