"""How much of a score is luck: rows drawn again, paired differences, and the score to expect on new rows.

It may import cross_validation, trials, and what is below them.
"""
