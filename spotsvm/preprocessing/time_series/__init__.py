"""Transformers of time series: delays, leaky tanks, complete rows, blocks as folds.

It may import common, and no other package of spotsvm.
"""
