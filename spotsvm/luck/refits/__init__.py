"""How much of a score is luck, by further fits: nested searches, and out-of-fold rows of the candidates.

It may import cross_validation, luck, and what is below them.
"""
