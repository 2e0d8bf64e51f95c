"""The optimism of a tuned score: nested resampling, fresh repeats, and the bias estimated from the fold scores.

It may import cross_validation, trials, and what is below them.
"""
