"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

import logging as _logging
from importlib import import_module
from importlib.metadata import version as _version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spotsvm._shadow import check_not_shadowed

check_not_shadowed(Path(__file__).parent.parent)

# quiet unless the program that uses the library wants to hear
_logging.getLogger("spotsvm").addHandler(_logging.NullHandler())

if TYPE_CHECKING:
    from solvers.dual import DualResult, solve_dual, solve_dual_regression
    from solvers.errors import SearchExhaustedError, SolverError
    from solvers.kernels import Kernel, gram_matrix
    from solvers.kernels.expressions import Expression
    from solvers.search import (
        SEARCHES,
        AskTell,
        CmaesSearch,
        KochSearch,
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
    from spotsvm.block_split import BlockSplit
    from spotsvm.callbacks import Callback, StopRun
    from spotsvm.class_accuracy import mean_class_accuracy, mean_class_accuracy_scorer
    from spotsvm.compare_searches import compare
    from spotsvm.comparison import Comparison
    from spotsvm.conformal_svc import ConformalSVC
    from spotsvm.cross_validation import cross_val_scores
    from spotsvm.cutoff_classifier import CutoffClassifier
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
        WorkersError,
    )
    from spotsvm.evo_svc import EvoSVC
    from spotsvm.evolved_kernel_svc import EvolvedKernelSVC
    from spotsvm.evolved_kernel_svr import EvolvedKernelSVR
    from spotsvm.exact_svc import ExactSVC
    from spotsvm.exact_svr import ExactSVR
    from spotsvm.expression_kernel import ExpressionKernel
    from spotsvm.judgement import Judgement
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
    from spotsvm.opening_search import opening
    from spotsvm.optimism.analysis import oversearching
    from spotsvm.optimism.result import Optimism
    from spotsvm.optimism.set_matrix import OversearchingMatrix
    from spotsvm.optimism.set_searches import oversearching_between_sets
    from spotsvm.pipelines.default_spaces import default_space
    from spotsvm.preprocessing.complete_rows import CompleteRowsRegressor
    from spotsvm.preprocessing.delay_embedding import DelayEmbedding
    from spotsvm.preprocessing.history_pipeline import HistoryPipeline
    from spotsvm.preprocessing.importance_fraction import ImportanceFraction
    from spotsvm.preprocessing.leaky_rain import LeakyRain
    from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
    from spotsvm.recommendation import Recommendation
    from spotsvm.recommendation_judge import judge_recommendation
    from spotsvm.reduced_svc import ReducedSVC
    from spotsvm.search_judge import judge_search
    from spotsvm.space import Space
    from spotsvm.spot_search_cv import SpotSearchCV
    from spotsvm.status import Status
    from spotsvm.stop_rule import ImprovementBelowUncertainty
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
    "solvers.kernels.expressions": ["Expression"],
    "solvers.search": [
        "AskTell",
        "CmaesSearch",
        "KochSearch",
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
    "spotsvm.block_split": ["BlockSplit"],
    "spotsvm.callbacks": ["Callback", "StopRun"],
    "spotsvm.class_accuracy": ["mean_class_accuracy", "mean_class_accuracy_scorer"],
    "spotsvm.compare_searches": ["compare"],
    "spotsvm.comparison": ["Comparison"],
    "spotsvm.conformal_svc": ["ConformalSVC"],
    "spotsvm.cross_validation": ["cross_val_scores"],
    "spotsvm.cutoff_classifier": ["CutoffClassifier"],
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
        "WorkersError",
    ],
    "spotsvm.evo_svc": ["EvoSVC"],
    "spotsvm.evolved_kernel_svc": ["EvolvedKernelSVC"],
    "spotsvm.evolved_kernel_svr": ["EvolvedKernelSVR"],
    "spotsvm.exact_svc": ["ExactSVC"],
    "spotsvm.exact_svr": ["ExactSVR"],
    "spotsvm.expression_kernel": ["ExpressionKernel"],
    "spotsvm.judgement": ["Judgement"],
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
    "spotsvm.opening_search": ["opening"],
    "spotsvm.optimism.analysis": ["oversearching"],
    "spotsvm.optimism.result": ["Optimism"],
    "spotsvm.optimism.set_matrix": ["OversearchingMatrix"],
    "spotsvm.optimism.set_searches": ["oversearching_between_sets"],
    "spotsvm.pipelines.default_spaces": ["default_space"],
    "spotsvm.preprocessing.complete_rows": ["CompleteRowsRegressor"],
    "spotsvm.preprocessing.delay_embedding": ["DelayEmbedding"],
    "spotsvm.preprocessing.history_pipeline": ["HistoryPipeline"],
    "spotsvm.preprocessing.importance_fraction": ["ImportanceFraction"],
    "spotsvm.preprocessing.leaky_rain": ["LeakyRain"],
    "spotsvm.preprocessing.principal_monomials": ["PrincipalMonomials"],
    "spotsvm.recommendation": ["Recommendation"],
    "spotsvm.recommendation_judge": ["judge_recommendation"],
    "spotsvm.reduced_svc": ["ReducedSVC"],
    "spotsvm.search_judge": ["judge_search"],
    "spotsvm.space": ["Space"],
    "spotsvm.spot_search_cv": ["SpotSearchCV"],
    "spotsvm.status": ["Status"],
    "spotsvm.stop_rule": ["ImprovementBelowUncertainty"],
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
    "AnisotropicRbfModel",
    "ArgumentError",
    "AskTell",
    "BlockSplit",
    "BudgetError",
    "Callback",
    "CmaesSearch",
    "Comparison",
    "CompleteRowsRegressor",
    "ConformalSVC",
    "ConicModel",
    "Coordinate",
    "CutoffClassifier",
    "DataError",
    "DelayEmbedding",
    "Domain",
    "DualResult",
    "EvoSVC",
    "EvolvedKernelSVC",
    "EvolvedKernelSVR",
    "ExactSVC",
    "ExactSVR",
    "Expression",
    "ExpressionKernel",
    "FixedKernelModel",
    "HistoryPipeline",
    "ImportanceFraction",
    "ImprovementBelowUncertainty",
    "Judgement",
    "Kernel",
    "KernelMatrices",
    "KernelModel",
    "Kriging",
    "KochSearch",
    "KrigingSearch",
    "LatinHypercubeSearch",
    "LbfgsbSearch",
    "LeakyRain",
    "MarginErrorFront",
    "MultiKernelSVC",
    "MultiKernelSVR",
    "MultiObjectiveSearch",
    "NestedSearch",
    "NoCompletedTrialError",
    "Nsga2Search",
    "Optimism",
    "OversearchingMatrix",
    "ParegoSearch",
    "PrincipalMonomials",
    "RandomSearch",
    "RbfModel",
    "Recommendation",
    "ReducedSVC",
    "SEARCHES",
    "Search",
    "SearchExhaustedError",
    "SolverError",
    "Space",
    "SpaceError",
    "SpotSVMError",
    "SpotSearchCV",
    "Stage",
    "Status",
    "StopRun",
    "StorageError",
    "Study",
    "StudyMismatchError",
    "Suggestion",
    "Trial",
    "TrialStateError",
    "TunedConicModel",
    "VnsSearch",
    "WorkersError",
    "compare",
    "cross_val_scores",
    "default_space",
    "expected_improvement",
    "gram_matrix",
    "judge_recommendation",
    "judge_search",
    "log_expected_improvement",
    "log_expected_improvement_gradient",
    "lower_confidence_bound",
    "mean_class_accuracy",
    "mean_class_accuracy_scorer",
    "minimum_of_mean",
    "nested",
    "opening",
    "oversearching",
    "oversearching_between_sets",
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
