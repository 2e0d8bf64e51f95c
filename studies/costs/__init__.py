"""What things cost: the overhead of a search, the speed of the solvers, kernels for groups of columns.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
