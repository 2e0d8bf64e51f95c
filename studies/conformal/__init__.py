"""Conformal modification of the kernel (Wu and Amari): the toy problem, the mushrooms, further sets.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
