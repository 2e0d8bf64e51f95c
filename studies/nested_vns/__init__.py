"""Nested variable neighbourhood search (Carrizosa et al.): Tables 3 to 5 of the paper.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
