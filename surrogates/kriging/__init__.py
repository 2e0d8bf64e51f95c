"""Kriging: models of an expensive function, from their likelihood to what they say of a whole domain.

It may import the domain, the designs and the errors of `spotsvm.surrogates`.
"""
