"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

from importlib import import_module
from importlib.metadata import version as _version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spotsvm._shadow import check_not_shadowed

check_not_shadowed(Path(__file__).parent.parent)

if TYPE_CHECKING:
    from solvers.dual import DualResult, solve_dual, solve_dual_regression
    from solvers.errors import SearchExhaustedError, SolverError
    from solvers.kernels import Kernel, gram_matrix
    from solvers.search import (
        SEARCHES,
        AskTell,
        CmaesSearch,
        KrigingSearch,
        LatinHypercubeSearch,
        LbfgsbSearch,
        MultiObjectiveSearch,
        NestedSearch,
        Nsga2Search,
        ParegoSearch,
        RandomSearch,
        Search,
        Stage,
        Suggestion,
        VnsSearch,
    )
    from spotsvm.compare_searches import compare
    from spotsvm.comparison import Comparison
    from spotsvm.cross_validation import cross_val_scores
    from spotsvm.errors import (
        ArgumentError,
        BudgetError,
        DataError,
        NoCompletedTrialError,
        SpaceError,
        SpotSVMError,
        StorageError,
        StudyMismatchError,
        TrialStateError,
    )
    from spotsvm.evo_svc import EvoSVC
    from spotsvm.exact_svc import ExactSVC
    from spotsvm.exact_svr import ExactSVR
    from spotsvm.kernel_models import (
        AnisotropicRbfModel,
        ConicModel,
        FixedKernelModel,
        KernelMatrices,
        KernelModel,
        RbfModel,
        TunedConicModel,
    )
    from spotsvm.margin_error_front import MarginErrorFront
    from spotsvm.multi_kernel_svc import MultiKernelSVC
    from spotsvm.multi_kernel_svr import MultiKernelSVR
    from spotsvm.nested_models import nested
    from spotsvm.recommendation import Recommendation
    from spotsvm.space import Space
    from spotsvm.spot_search_cv import SpotSearchCV
    from spotsvm.study import Study
    from spotsvm.trial import Trial
    from surrogates import (
        Coordinate,
        Domain,
        Kriging,
        expected_improvement,
        log_expected_improvement,
        log_expected_improvement_gradient,
        lower_confidence_bound,
        minimum_of_mean,
        probability_of_improvement,
    )

_HOMES = {
    "solvers.dual": ["DualResult", "solve_dual", "solve_dual_regression"],
    "solvers.errors": ["SearchExhaustedError", "SolverError"],
    "solvers.kernels": ["Kernel", "gram_matrix"],
    "solvers.search": [
        "AskTell",
        "CmaesSearch",
        "KrigingSearch",
        "LatinHypercubeSearch",
        "LbfgsbSearch",
        "MultiObjectiveSearch",
        "NestedSearch",
        "Nsga2Search",
        "ParegoSearch",
        "RandomSearch",
        "SEARCHES",
        "Search",
        "Stage",
        "Suggestion",
        "VnsSearch",
    ],
    "spotsvm.compare_searches": ["compare"],
    "spotsvm.comparison": ["Comparison"],
    "spotsvm.cross_validation": ["cross_val_scores"],
    "spotsvm.errors": [
        "ArgumentError",
        "BudgetError",
        "DataError",
        "NoCompletedTrialError",
        "SpaceError",
        "SpotSVMError",
        "StorageError",
        "StudyMismatchError",
        "TrialStateError",
    ],
    "spotsvm.evo_svc": ["EvoSVC"],
    "spotsvm.exact_svc": ["ExactSVC"],
    "spotsvm.exact_svr": ["ExactSVR"],
    "spotsvm.kernel_models": [
        "AnisotropicRbfModel",
        "ConicModel",
        "FixedKernelModel",
        "KernelMatrices",
        "KernelModel",
        "RbfModel",
        "TunedConicModel",
    ],
    "spotsvm.margin_error_front": ["MarginErrorFront"],
    "spotsvm.multi_kernel_svc": ["MultiKernelSVC"],
    "spotsvm.multi_kernel_svr": ["MultiKernelSVR"],
    "spotsvm.nested_models": ["nested"],
    "spotsvm.recommendation": ["Recommendation"],
    "spotsvm.space": ["Space"],
    "spotsvm.spot_search_cv": ["SpotSearchCV"],
    "spotsvm.study": ["Study"],
    "spotsvm.trial": ["Trial"],
    "surrogates": [
        "Coordinate",
        "Domain",
        "Kriging",
        "expected_improvement",
        "log_expected_improvement",
        "log_expected_improvement_gradient",
        "lower_confidence_bound",
        "minimum_of_mean",
        "probability_of_improvement",
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = _version("spotsvm")

__all__ = [
    "SEARCHES",
    "AnisotropicRbfModel",
    "ArgumentError",
    "AskTell",
    "BudgetError",
    "CmaesSearch",
    "Comparison",
    "ConicModel",
    "Coordinate",
    "DataError",
    "Domain",
    "DualResult",
    "EvoSVC",
    "ExactSVC",
    "ExactSVR",
    "FixedKernelModel",
    "Kernel",
    "KernelMatrices",
    "KernelModel",
    "Kriging",
    "KrigingSearch",
    "LatinHypercubeSearch",
    "LbfgsbSearch",
    "MarginErrorFront",
    "MultiKernelSVC",
    "MultiKernelSVR",
    "MultiObjectiveSearch",
    "NestedSearch",
    "NoCompletedTrialError",
    "Nsga2Search",
    "ParegoSearch",
    "RandomSearch",
    "RbfModel",
    "Recommendation",
    "Search",
    "SearchExhaustedError",
    "SolverError",
    "Space",
    "SpaceError",
    "SpotSVMError",
    "SpotSearchCV",
    "Stage",
    "StorageError",
    "Study",
    "StudyMismatchError",
    "Suggestion",
    "Trial",
    "TrialStateError",
    "TunedConicModel",
    "VnsSearch",
    "compare",
    "cross_val_scores",
    "expected_improvement",
    "gram_matrix",
    "log_expected_improvement",
    "log_expected_improvement_gradient",
    "lower_confidence_bound",
    "minimum_of_mean",
    "nested",
    "probability_of_improvement",
    "solve_dual",
    "solve_dual_regression",
]


def __getattr__(name: str) -> Any:
    """Load what is public when it is first asked for: importing scikit-learn takes most of a second."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
