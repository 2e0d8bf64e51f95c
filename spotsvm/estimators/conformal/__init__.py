"""SVC with a conformal kernel: a second pass with the kernel magnified near the boundary.

It may import `spotsvm.estimators.dual` and what is below it.
"""
