"""Scores on fixed folds, in which candidates share kernel matrices and solutions.

It may import estimators, `luck`, and what is below them.
"""
