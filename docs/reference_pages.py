"""Where public names live."""

#: the modules that users import from
HOMES = ("spotsvm", "spotsvm.searches", "spotsvm.kernels", "spotsvm.acquisition", "spotsvm.errors", "spotsvm.solvers.dual")
#: what some modules need, and the library does not
OPTIONAL = ("optuna", "distributed")
