"""Acquisition functions: the worth of a further evaluation by a Kriging model, and the point where it is largest.

It may import `spotsvm.surrogates.kriging` and the packages below it.
"""
