"""Concentration of acid from near-infrared spectra (Henrich et al.): tuned machines against the paper's tables.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
