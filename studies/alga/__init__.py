"""The alternating genetic algorithm (ALGA): fronts of error and size, against grid search and tuned machines.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
