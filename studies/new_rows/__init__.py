"""What tuned estimators gain on new rows, beside other ways to make a model, in processor time.

It may import `spotsvm.studies.common` and everything of spotsvm.
"""
