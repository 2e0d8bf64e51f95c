"""Comparison of the searches on the tuning tasks, with pending trials, and with and without reinterpolation."""
