"""`compare` and its tables, the judges of recommendations and searches, oversearching between sets.

It may import search_cv, optimism, study, and all below them.
"""
