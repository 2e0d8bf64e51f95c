"""The contract of every search, and the searches that use no values.

It may import `spotsvm.surrogates` and the errors of `spotsvm.solvers`.
"""
