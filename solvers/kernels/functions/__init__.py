"""Kernel functions with their parameters, alone and combined.

It may import the checks of numbers and the errors of `spotsvm.solvers`.
"""
