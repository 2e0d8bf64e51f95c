"""Comparisons: `compare` and its tables, judges of recommendations and searches, oversearching between sets.

It may import search_cv, optimism, study, and all below them.
"""
