"""Times: suggestions of a search, cross-validation, kernels for groups of columns, load, and path lengths."""
