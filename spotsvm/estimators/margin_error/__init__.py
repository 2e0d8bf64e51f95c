"""The front of margin against training error, to choose a machine from.

It may import `spotsvm.estimators.dual` and what is below it.
"""
