"""Self-contained HTML: pages of text, tables, pictures and code, and the representation of a study in notebooks.

It may import trials, and what is below them.
"""
