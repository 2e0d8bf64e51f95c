"""Acquisition: what a further evaluation is worth, by a Kriging model, and where that is largest.

It may import `spotsvm.surrogates.kriging` and what is below it.
"""
