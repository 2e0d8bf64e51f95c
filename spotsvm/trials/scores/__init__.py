"""Scores: metrics, intervals, spread and bias over folds, and the optimism of a tuned score.

It may import trials, space and common.
"""
