"""The searches compared on the tuning tasks, with trials pending, and reinterpolation.

It may import `spotsvm.studies.common`, `spotsvm.studies.tasks` and everything of spotsvm.
"""
