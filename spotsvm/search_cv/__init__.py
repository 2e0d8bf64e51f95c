"""`SpotSearchCV`: a study as an estimator of scikit-learn, with shared cross-validation.

It may import study, cross_validation, trials, and all below them.
"""
