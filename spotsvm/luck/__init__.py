"""How much of a score is luck, as numerics of plain arrays: scores of bootstrap draws, and what they say about new rows.

It may import common, and what is below it.
"""
