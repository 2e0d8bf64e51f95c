"""`Study`: ask, tell, run and resume a search of any function.

It may import reports, trials, space, and what is below them.
"""
