"""Reports: self-contained HTML pages of tables and pictures, and the page of a study.

It may import trials, space, and what is below them.
"""
