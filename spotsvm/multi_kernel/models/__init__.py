"""Kernel models: families of kernels with parameters to tune, nested into each other.

It may import search_cv, cross_validation, estimators, and what is below them.
"""
