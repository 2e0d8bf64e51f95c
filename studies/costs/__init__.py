"""Times: suggestions of a search, cross-validation, kernels for groups of columns, and load."""
