"""Priors of the optimum: what a good one gains, and what a wrong one costs.

It may import `spotsvm.studies.common`, `spotsvm.studies.tasks` and everything of spotsvm, and no other study.
"""
