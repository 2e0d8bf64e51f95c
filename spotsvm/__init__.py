"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

import logging as _logging
from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

# quiet unless the program that uses the library wants to hear
_logging.getLogger("spotsvm").addHandler(_logging.NullHandler())

if TYPE_CHECKING:  # for type checkers; a test compares it with `_NAMES`
    from spotsvm.common.errors import ArgumentError as ArgumentError
    from spotsvm.common.errors import BudgetError as BudgetError
    from spotsvm.common.errors import DataError as DataError
    from spotsvm.common.errors import FirstTrialsFailedError as FirstTrialsFailedError
    from spotsvm.common.errors import NoCompletedTrialError as NoCompletedTrialError
    from spotsvm.common.errors import RefitTimeoutError as RefitTimeoutError
    from spotsvm.common.errors import SpaceError as SpaceError
    from spotsvm.common.errors import SpotSVMError as SpotSVMError
    from spotsvm.common.errors import StorageError as StorageError
    from spotsvm.common.errors import StudyMismatchError as StudyMismatchError
    from spotsvm.common.errors import TrialStateError as TrialStateError
    from spotsvm.common.errors import WorkersError as WorkersError
    from spotsvm.comparison.compare import compare as compare
    from spotsvm.comparison.comparison import Comparison as Comparison
    from spotsvm.comparison.judge_recommendation import Judgement as Judgement
    from spotsvm.comparison.judge_recommendation import judge_recommendation as judge_recommendation
    from spotsvm.comparison.judge_search import judge_search as judge_search
    from spotsvm.comparison.sets import OversearchingMatrix as OversearchingMatrix
    from spotsvm.comparison.sets import oversearching_between_sets as oversearching_between_sets
    from spotsvm.cross_validation.cross_val_scores import cross_val_scores as cross_val_scores
    from spotsvm.estimators.conformal.conformal_svc import ConformalSVC as ConformalSVC
    from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier as CutoffClassifier
    from spotsvm.estimators.dual.evo_svc import EvoSVC as EvoSVC
    from spotsvm.estimators.dual.exact_svc import ExactSVC as ExactSVC
    from spotsvm.estimators.dual.exact_svr import ExactSVR as ExactSVR
    from spotsvm.estimators.dual.margin_error_front import MarginErrorFront as MarginErrorFront
    from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC as EvolvedKernelSVC
    from spotsvm.estimators.evolved.evolved_kernel_svr import EvolvedKernelSVR as EvolvedKernelSVR
    from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel as ExpressionKernel
    from spotsvm.estimators.reduced.reduced_svc import ReducedSVC as ReducedSVC
    from spotsvm.multi_kernel import AnisotropicRbfModel as AnisotropicRbfModel
    from spotsvm.multi_kernel import ConicModel as ConicModel
    from spotsvm.multi_kernel import FixedKernelModel as FixedKernelModel
    from spotsvm.multi_kernel import KernelMatrices as KernelMatrices
    from spotsvm.multi_kernel import KernelModel as KernelModel
    from spotsvm.multi_kernel import RbfModel as RbfModel
    from spotsvm.multi_kernel import TunedConicModel as TunedConicModel
    from spotsvm.multi_kernel.multi_kernel_svc import MultiKernelSVC as MultiKernelSVC
    from spotsvm.multi_kernel.multi_kernel_svr import MultiKernelSVR as MultiKernelSVR
    from spotsvm.multi_kernel.nested import nested as nested
    from spotsvm.optimism.analysis import oversearching as oversearching
    from spotsvm.preprocessing.importance_fraction import ImportanceFraction as ImportanceFraction
    from spotsvm.preprocessing.principal_monomials import PrincipalMonomials as PrincipalMonomials
    from spotsvm.preprocessing.time_series.block_split import BlockSplit as BlockSplit
    from spotsvm.preprocessing.time_series.complete_rows import CompleteRowsRegressor as CompleteRowsRegressor
    from spotsvm.preprocessing.time_series.delay_embedding import DelayEmbedding as DelayEmbedding
    from spotsvm.preprocessing.time_series.history_pipeline import HistoryPipeline as HistoryPipeline
    from spotsvm.preprocessing.time_series.leaky_rain import LeakyRain as LeakyRain
    from spotsvm.search_cv.spot_search_cv import SpotSearchCV as SpotSearchCV
    from spotsvm.solvers.dual import DualResult as DualResult
    from spotsvm.solvers.dual import solve_dual as solve_dual
    from spotsvm.solvers.dual import solve_dual_regression as solve_dual_regression
    from spotsvm.solvers.errors import SearchExhaustedError as SearchExhaustedError
    from spotsvm.solvers.errors import SolverError as SolverError
    from spotsvm.solvers.kernels import Kernel as Kernel
    from spotsvm.solvers.kernels import gram_matrix as gram_matrix
    from spotsvm.solvers.kernels.expressions import Expression as Expression
    from spotsvm.solvers.search import SEARCHES as SEARCHES
    from spotsvm.solvers.search import AskTell as AskTell
    from spotsvm.solvers.search import CmaesSearch as CmaesSearch
    from spotsvm.solvers.search import KochSearch as KochSearch
    from spotsvm.solvers.search import KrigingSearch as KrigingSearch
    from spotsvm.solvers.search import LatinHypercubeSearch as LatinHypercubeSearch
    from spotsvm.solvers.search import LbfgsbSearch as LbfgsbSearch
    from spotsvm.solvers.search import MultiObjectiveSearch as MultiObjectiveSearch
    from spotsvm.solvers.search import NestedSearch as NestedSearch
    from spotsvm.solvers.search import Nsga2Search as Nsga2Search
    from spotsvm.solvers.search import ParegoSearch as ParegoSearch
    from spotsvm.solvers.search import RandomSearch as RandomSearch
    from spotsvm.solvers.search import Search as Search
    from spotsvm.solvers.search import Stage as Stage
    from spotsvm.solvers.search import Suggestion as Suggestion
    from spotsvm.solvers.search import VnsSearch as VnsSearch
    from spotsvm.space.space import Space as Space
    from spotsvm.study.callbacks import Callback as Callback
    from spotsvm.study.callbacks import StopRun as StopRun
    from spotsvm.study.load import list_studies as list_studies
    from spotsvm.study.load import load_study as load_study
    from spotsvm.study.status import Status as Status
    from spotsvm.study.stop import ImprovementBelowUncertainty as ImprovementBelowUncertainty
    from spotsvm.study.study import Study as Study
    from spotsvm.surrogates import Coordinate as Coordinate
    from spotsvm.surrogates import Domain as Domain
    from spotsvm.surrogates import Kriging as Kriging
    from spotsvm.surrogates import expected_improvement as expected_improvement
    from spotsvm.surrogates import log_expected_improvement as log_expected_improvement
    from spotsvm.surrogates import log_expected_improvement_gradient as log_expected_improvement_gradient
    from spotsvm.surrogates import lower_confidence_bound as lower_confidence_bound
    from spotsvm.surrogates import minimum_of_mean as minimum_of_mean
    from spotsvm.surrogates import probability_of_improvement as probability_of_improvement
    from spotsvm.trials.recommendation import Recommendation as Recommendation
    from spotsvm.trials.scores.metrics import mean_class_accuracy as mean_class_accuracy
    from spotsvm.trials.scores.metrics import mean_class_accuracy_scorer as mean_class_accuracy_scorer
    from spotsvm.trials.scores.optimism import Optimism as Optimism
    from spotsvm.trials.trial import Trial as Trial
    from spotsvm.tuning.pipelines.default_spaces import default_space as default_space
    from spotsvm.tuning.pipelines.opening import opening as opening

__version__ = _version("spotsvm")

#: the public names of each module, which is imported when one of them is first used
_NAMES = {
    "common.errors": (
        "ArgumentError BudgetError DataError FirstTrialsFailedError NoCompletedTrialError "
        "RefitTimeoutError SpaceError SpotSVMError StorageError StudyMismatchError TrialStateError WorkersError"
    ),
    "comparison.compare": "compare",
    "comparison.comparison": "Comparison",
    "comparison.judge_recommendation": "Judgement judge_recommendation",
    "comparison.judge_search": "judge_search",
    "comparison.sets": "OversearchingMatrix oversearching_between_sets",
    "cross_validation.cross_val_scores": "cross_val_scores",
    "estimators.conformal.conformal_svc": "ConformalSVC",
    "estimators.cutoff.cutoff_classifier": "CutoffClassifier",
    "estimators.dual.evo_svc": "EvoSVC",
    "estimators.dual.exact_svc": "ExactSVC",
    "estimators.dual.exact_svr": "ExactSVR",
    "estimators.dual.margin_error_front": "MarginErrorFront",
    "estimators.evolved.evolved_kernel_svc": "EvolvedKernelSVC",
    "estimators.evolved.evolved_kernel_svr": "EvolvedKernelSVR",
    "estimators.evolved.expression_kernel": "ExpressionKernel",
    "estimators.reduced.reduced_svc": "ReducedSVC",
    "multi_kernel": "AnisotropicRbfModel ConicModel FixedKernelModel KernelMatrices KernelModel RbfModel TunedConicModel",
    "multi_kernel.multi_kernel_svc": "MultiKernelSVC",
    "multi_kernel.multi_kernel_svr": "MultiKernelSVR",
    "multi_kernel.nested": "nested",
    "optimism.analysis": "oversearching",
    "preprocessing.importance_fraction": "ImportanceFraction",
    "preprocessing.principal_monomials": "PrincipalMonomials",
    "preprocessing.time_series.block_split": "BlockSplit",
    "preprocessing.time_series.complete_rows": "CompleteRowsRegressor",
    "preprocessing.time_series.delay_embedding": "DelayEmbedding",
    "preprocessing.time_series.history_pipeline": "HistoryPipeline",
    "preprocessing.time_series.leaky_rain": "LeakyRain",
    "search_cv.spot_search_cv": "SpotSearchCV",
    "solvers.dual": "DualResult solve_dual solve_dual_regression",
    "solvers.errors": "SearchExhaustedError SolverError",
    "solvers.kernels": "Kernel gram_matrix",
    "solvers.kernels.expressions": "Expression",
    "solvers.search": (
        "SEARCHES AskTell CmaesSearch KochSearch KrigingSearch LatinHypercubeSearch LbfgsbSearch "
        "MultiObjectiveSearch NestedSearch Nsga2Search ParegoSearch RandomSearch Search Stage Suggestion VnsSearch"
    ),
    "space.space": "Space",
    "study.callbacks": "Callback StopRun",
    "study.load": "list_studies load_study",
    "study.status": "Status",
    "study.stop": "ImprovementBelowUncertainty",
    "study.study": "Study",
    "surrogates": (
        "Coordinate Domain Kriging expected_improvement log_expected_improvement log_expected_improvement_gradient "
        "lower_confidence_bound minimum_of_mean probability_of_improvement"
    ),
    "trials.recommendation": "Recommendation",
    "trials.scores.metrics": "mean_class_accuracy mean_class_accuracy_scorer",
    "trials.scores.optimism": "Optimism",
    "trials.trial": "Trial",
    "tuning.pipelines.default_spaces": "default_space",
    "tuning.pipelines.opening": "opening",
}
_MODULES = {name: f"spotsvm.{module}" for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing scikit-learn takes most of a second."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
