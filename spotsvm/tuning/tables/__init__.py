"""Tables and time series as a user has them, checked and split for tuning.

It may import common and luck.
"""
