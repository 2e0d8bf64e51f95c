"""What ends a run before its budget, beside stop rules: its time, and failures.

It may import trials and what is below them.
"""
