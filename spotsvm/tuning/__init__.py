"""One tuning job: a table of data, a pipeline, searches, and a report.

It may import comparison, search_cv, optimism, preprocessing, estimators, and all below them.
"""
