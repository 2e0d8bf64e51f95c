"""Optimism of tuned scores, and its growth with the trials."""
