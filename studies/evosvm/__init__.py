"""Evolutionary support vector machines: the paper's data sets, its F-tests, indefinite kernels.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
