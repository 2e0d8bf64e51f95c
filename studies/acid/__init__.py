"""Concentration of acid from UV/vis spectra (Koch et al. 2011): many parameters, tuned together.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
