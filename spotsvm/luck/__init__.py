"""How much of a score is luck: intervals, rows drawn again, paired differences, verdicts. Nothing here fits a search.

It may import trials, space and common.
"""
