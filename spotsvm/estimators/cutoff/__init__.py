"""Classifiers with weights and cutoffs of the vote for each class.

It may import common and `spotsvm.solvers`.
"""
