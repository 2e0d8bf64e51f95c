"""Errors, checks, texts, CSV files, drawing, and fingerprints of data, shared by all packages of spotsvm.

It may import the errors of `spotsvm.solvers` and `spotsvm.surrogates`, and `checked_numbers`, and nothing else of ours.
"""
