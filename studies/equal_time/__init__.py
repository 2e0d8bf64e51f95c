"""What a tuned machine gains on new rows, and how soon, when every way to tune it has the same processor time.

It may import `spotsvm.studies.common` and everything of spotsvm.
"""
