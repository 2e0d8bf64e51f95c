"""SVC trained on a few selected rows (ALGA, GASVM, NSGA-II).

It may import `spotsvm.estimators.dual` and what is below it.
"""
