"""Transformers of time series: delays, leaky tanks, complete rows, blocks as folds.

It may import common and nothing else of ours.
"""
