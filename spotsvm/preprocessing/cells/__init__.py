"""The cells of a table: what each column holds, in which notation, and what equal values look like in later rows.

It may import common, and no other package of spotsvm.
"""
