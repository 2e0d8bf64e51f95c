"""Trials that end early: whether a search reaches the same value in fewer steps.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
