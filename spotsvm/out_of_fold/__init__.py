"""The out-of-fold table: the answers of settings for rows that they have not seen, and what follows from them alone.

It may import luck and common; nothing here fits a model.
"""
