"""Kernels evolved by genetic programming: errors against the paper's tables, causality of the operators.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
