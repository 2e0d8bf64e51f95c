"""Transformers of spectra: derivatives, scatter correction, scores of partial least squares.

It may import common, and no other package of spotsvm.
"""
