"""Evolutionary support vector machines (Mierswa 2006): the paper's data sets and F tests, and indefinite kernels."""
