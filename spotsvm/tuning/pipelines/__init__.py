"""Pipelines of preprocessing and a support vector machine, each with the space in which to tune it.

It may import search_cv, estimators, preprocessing, and all below them.
"""
