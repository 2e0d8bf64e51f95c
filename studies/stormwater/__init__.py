"""Prediction of the level of a stormwater tank: the paper's tables on simulated rain.

It may import `spotsvm.studies.common`, `spotsvm.studies.tasks` and everything of spotsvm.
"""
