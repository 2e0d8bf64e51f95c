"""Support vector machines as estimators of scikit-learn, a folder for each family.

It may import common and `spotsvm.solvers`.
"""
