"""Optimisers: parameter searches, solvers of the SVM's dual, and kernels. Users import from `spotsvm`."""
