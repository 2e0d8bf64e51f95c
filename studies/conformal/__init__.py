"""Conformal modification of the kernel (Williams et al. 2005): the toy problem, the mushrooms, further sets.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
