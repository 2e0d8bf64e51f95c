"""Judges: the choice of a study or a search on fresh data, beside the best value seen, and on other data sets.

It may import comparison, search_cv, study, luck, and what is below them.
"""
