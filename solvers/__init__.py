"""What minimises: parameter search (`solvers.search`). Users import from `spotsvm`."""
