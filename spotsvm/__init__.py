"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

import ast as _ast
import logging as _logging
from importlib import import_module
from importlib.metadata import version as _version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spotsvm._shadow import check_not_shadowed

check_not_shadowed(Path(__file__).parent.parent)

# quiet unless the program that uses the library wants to hear
_logging.getLogger("spotsvm").addHandler(_logging.NullHandler())

if TYPE_CHECKING:  # the only list of public names: `_public_names` reads it
    from solvers.dual import DualResult as DualResult
    from solvers.dual import solve_dual as solve_dual
    from solvers.dual import solve_dual_regression as solve_dual_regression
    from solvers.errors import SearchExhaustedError as SearchExhaustedError
    from solvers.errors import SolverError as SolverError
    from solvers.kernels import Kernel as Kernel
    from solvers.kernels import gram_matrix as gram_matrix
    from solvers.kernels.expressions import Expression as Expression
    from solvers.search import SEARCHES as SEARCHES
    from solvers.search import AskTell as AskTell
    from solvers.search import CmaesSearch as CmaesSearch
    from solvers.search import KochSearch as KochSearch
    from solvers.search import KrigingSearch as KrigingSearch
    from solvers.search import LatinHypercubeSearch as LatinHypercubeSearch
    from solvers.search import LbfgsbSearch as LbfgsbSearch
    from solvers.search import MultiObjectiveSearch as MultiObjectiveSearch
    from solvers.search import NestedSearch as NestedSearch
    from solvers.search import Nsga2Search as Nsga2Search
    from solvers.search import ParegoSearch as ParegoSearch
    from solvers.search import RandomSearch as RandomSearch
    from solvers.search import Search as Search
    from solvers.search import Stage as Stage
    from solvers.search import Suggestion as Suggestion
    from solvers.search import VnsSearch as VnsSearch
    from spotsvm.block_split import BlockSplit as BlockSplit
    from spotsvm.callbacks import Callback as Callback
    from spotsvm.callbacks import StopRun as StopRun
    from spotsvm.class_accuracy import mean_class_accuracy as mean_class_accuracy
    from spotsvm.class_accuracy import mean_class_accuracy_scorer as mean_class_accuracy_scorer
    from spotsvm.compare_searches import compare as compare
    from spotsvm.comparison import Comparison as Comparison
    from spotsvm.conformal_svc import ConformalSVC as ConformalSVC
    from spotsvm.cross_validation import cross_val_scores as cross_val_scores
    from spotsvm.cutoff_classifier import CutoffClassifier as CutoffClassifier
    from spotsvm.errors import ArgumentError as ArgumentError
    from spotsvm.errors import BudgetError as BudgetError
    from spotsvm.errors import DataError as DataError
    from spotsvm.errors import NoCompletedTrialError as NoCompletedTrialError
    from spotsvm.errors import SpaceError as SpaceError
    from spotsvm.errors import SpotSVMError as SpotSVMError
    from spotsvm.errors import StorageError as StorageError
    from spotsvm.errors import StudyMismatchError as StudyMismatchError
    from spotsvm.errors import TrialStateError as TrialStateError
    from spotsvm.errors import WorkersError as WorkersError
    from spotsvm.evo_svc import EvoSVC as EvoSVC
    from spotsvm.evolved_kernel_svc import EvolvedKernelSVC as EvolvedKernelSVC
    from spotsvm.evolved_kernel_svr import EvolvedKernelSVR as EvolvedKernelSVR
    from spotsvm.exact_svc import ExactSVC as ExactSVC
    from spotsvm.exact_svr import ExactSVR as ExactSVR
    from spotsvm.expression_kernel import ExpressionKernel as ExpressionKernel
    from spotsvm.judgement import Judgement as Judgement
    from spotsvm.kernel_models import AnisotropicRbfModel as AnisotropicRbfModel
    from spotsvm.kernel_models import ConicModel as ConicModel
    from spotsvm.kernel_models import FixedKernelModel as FixedKernelModel
    from spotsvm.kernel_models import KernelMatrices as KernelMatrices
    from spotsvm.kernel_models import KernelModel as KernelModel
    from spotsvm.kernel_models import RbfModel as RbfModel
    from spotsvm.kernel_models import TunedConicModel as TunedConicModel
    from spotsvm.margin_error_front import MarginErrorFront as MarginErrorFront
    from spotsvm.multi_kernel_svc import MultiKernelSVC as MultiKernelSVC
    from spotsvm.multi_kernel_svr import MultiKernelSVR as MultiKernelSVR
    from spotsvm.nested_models import nested as nested
    from spotsvm.opening_search import opening as opening
    from spotsvm.optimism.analysis import oversearching as oversearching
    from spotsvm.optimism.result import Optimism as Optimism
    from spotsvm.optimism.set_matrix import OversearchingMatrix as OversearchingMatrix
    from spotsvm.optimism.set_searches import oversearching_between_sets as oversearching_between_sets
    from spotsvm.pipelines.default_spaces import default_space as default_space
    from spotsvm.preprocessing.complete_rows import CompleteRowsRegressor as CompleteRowsRegressor
    from spotsvm.preprocessing.delay_embedding import DelayEmbedding as DelayEmbedding
    from spotsvm.preprocessing.history_pipeline import HistoryPipeline as HistoryPipeline
    from spotsvm.preprocessing.importance_fraction import ImportanceFraction as ImportanceFraction
    from spotsvm.preprocessing.leaky_rain import LeakyRain as LeakyRain
    from spotsvm.preprocessing.principal_monomials import PrincipalMonomials as PrincipalMonomials
    from spotsvm.recommendation import Recommendation as Recommendation
    from spotsvm.recommendation_judge import judge_recommendation as judge_recommendation
    from spotsvm.reduced_svc import ReducedSVC as ReducedSVC
    from spotsvm.search_judge import judge_search as judge_search
    from spotsvm.space import Space as Space
    from spotsvm.spot_search_cv import SpotSearchCV as SpotSearchCV
    from spotsvm.status import Status as Status
    from spotsvm.stop_rule import ImprovementBelowUncertainty as ImprovementBelowUncertainty
    from spotsvm.study import Study as Study
    from spotsvm.trial import Trial as Trial
    from surrogates import Coordinate as Coordinate
    from surrogates import Domain as Domain
    from surrogates import Kriging as Kriging
    from surrogates import expected_improvement as expected_improvement
    from surrogates import log_expected_improvement as log_expected_improvement
    from surrogates import log_expected_improvement_gradient as log_expected_improvement_gradient
    from surrogates import lower_confidence_bound as lower_confidence_bound
    from surrogates import minimum_of_mean as minimum_of_mean
    from surrogates import probability_of_improvement as probability_of_improvement

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
