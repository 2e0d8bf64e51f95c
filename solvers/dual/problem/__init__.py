"""The dual problem of a support vector machine and its solution, as checked plain arrays.

It may import the number checks and errors of `spotsvm.solvers`.
"""
