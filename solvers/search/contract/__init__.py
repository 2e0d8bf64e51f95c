"""The contract of every search, and the searches that need nothing else.

It may import `spotsvm.surrogates` and the errors of `spotsvm.solvers`.
"""
