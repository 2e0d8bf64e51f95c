"""Comparisons of searches: `compare`, its tables and its figure.

It may import study, reports, and what is below them.
"""
