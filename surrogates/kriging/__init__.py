"""Kriging: models of an expensive function, from their likelihood to their predictions over a whole domain.

It may import the domain, the initial designs and the errors of `spotsvm.surrogates`.
"""
