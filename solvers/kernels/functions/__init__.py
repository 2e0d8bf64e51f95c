"""Kernel functions with their parameters, alone and combined.

It may import the number checks and errors of `spotsvm.solvers`.
"""
