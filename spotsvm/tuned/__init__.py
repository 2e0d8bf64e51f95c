"""TunedSVC and TunedSVR: averages of a few support vector machines of several kinds, tuned, calibrated and judged in one fit.

It may import cross_validation, luck, study, preprocessing, reports.html, estimators and the packages below them.
"""
