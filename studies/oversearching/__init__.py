"""Optimism of tuned scores: its growth with the trials, and the coverage of its intervals."""
