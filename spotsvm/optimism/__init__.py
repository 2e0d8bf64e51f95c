"""Estimate how much of a tuned score is luck: nested resampling, fresh repeats, and the bias estimated from the fold scores."""
