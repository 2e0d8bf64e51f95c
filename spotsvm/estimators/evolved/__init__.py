"""Support vector machines whose kernel is evolved by genetic programming.

It may import `spotsvm.estimators.dual` and what is below it.
"""
