"""What minimises: parameter search (`spotsvm.solvers.search`). Users import from `spotsvm`."""
