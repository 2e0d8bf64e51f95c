"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

import ast as _ast
import logging as _logging
from importlib import import_module
from importlib.metadata import version as _version
from pathlib import Path
from typing import TYPE_CHECKING, Any

# quiet unless the program that uses the library wants to hear
_logging.getLogger("spotsvm").addHandler(_logging.NullHandler())

if TYPE_CHECKING:  # the only list of public names: `_public_names` reads it
    from spotsvm.common.errors import ArgumentError as ArgumentError
    from spotsvm.common.errors import BudgetError as BudgetError
    from spotsvm.common.errors import DataError as DataError
    from spotsvm.common.errors import NoCompletedTrialError as NoCompletedTrialError
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
    from spotsvm.comparison.set_matrix import OversearchingMatrix as OversearchingMatrix
    from spotsvm.comparison.sets import oversearching_between_sets as oversearching_between_sets
    from spotsvm.cross_validation.cross_val_scores import cross_val_scores as cross_val_scores
    from spotsvm.estimators.conformal.conformal_svc import ConformalSVC as ConformalSVC
    from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier as CutoffClassifier
    from spotsvm.estimators.dual.evo_svc import EvoSVC as EvoSVC
    from spotsvm.estimators.dual.exact_svc import ExactSVC as ExactSVC
    from spotsvm.estimators.dual.exact_svr import ExactSVR as ExactSVR
    from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC as EvolvedKernelSVC
    from spotsvm.estimators.evolved.evolved_kernel_svr import EvolvedKernelSVR as EvolvedKernelSVR
    from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel as ExpressionKernel
    from spotsvm.estimators.margin_error.margin_error_front import MarginErrorFront as MarginErrorFront
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


def _public_names() -> dict[str, str]:
    """Return the module of each public name, read from the imports for type checkers above."""
    tree = _ast.parse(Path(__file__).read_text(encoding="utf-8"))
    block = next(part for part in tree.body if isinstance(part, _ast.If))
    return {alias.name: str(part.module) for part in block.body if isinstance(part, _ast.ImportFrom) for alias in part.names}


_MODULES = _public_names()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing scikit-learn takes most of a second."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
