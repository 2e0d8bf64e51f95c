"""The dual problem of a support vector machine and its solution, as checked plain arrays.

It may import the checks of numbers and the errors of `spotsvm.solvers`.
"""
