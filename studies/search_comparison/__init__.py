"""The searches compared on the tuning tasks, with trials pending, and reinterpolation.

It may import `studies.common`, `studies.tasks` and everything of spotsvm.
"""
