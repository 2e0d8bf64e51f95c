"""Tune support vector machines and their preprocessing when evaluations are expensive and few."""

import logging as _logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spotsvm.common.checkout import library_version, use_checkout

use_checkout()
__version__ = library_version()

# quiet unless the program that uses the library wants to hear
_logging.getLogger("spotsvm").addHandler(_logging.NullHandler())

if TYPE_CHECKING:  # for type checkers; a test compares it with `_FURTHER` and `_NAMES`
    from spotsvm import acquisition as acquisition
    from spotsvm import errors as errors
    from spotsvm import kernels as kernels
    from spotsvm import plots as plots
    from spotsvm import searches as searches
    from spotsvm import tables as tables
    from spotsvm.comparison.between_sets import OversearchingMatrix as OversearchingMatrix
    from spotsvm.comparison.between_sets import oversearching_between_sets as oversearching_between_sets
    from spotsvm.comparison.compare import compare as compare
    from spotsvm.comparison.comparison import Comparison as Comparison
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
    from spotsvm.luck.estimate import ExpectedScore as ExpectedScore
    from spotsvm.luck.explanation import Explanation as Explanation
    from spotsvm.luck.optimism import Optimism as Optimism
    from spotsvm.luck.refits.analysis import oversearching as oversearching
    from spotsvm.luck.refits.search_rows import expected_score as expected_score
    from spotsvm.luck.refits.search_rows import tuning_verdict as tuning_verdict
    from spotsvm.multi_kernel.multi_kernel_svc import MultiKernelSVC as MultiKernelSVC
    from spotsvm.multi_kernel.multi_kernel_svr import MultiKernelSVR as MultiKernelSVR
    from spotsvm.out_of_fold.table import OutOfFold as OutOfFold
    from spotsvm.preprocessing.importance_fraction import ImportanceFraction as ImportanceFraction
    from spotsvm.preprocessing.principal_monomials import PrincipalMonomials as PrincipalMonomials
    from spotsvm.preprocessing.spectra.pls_scores import PLSScores as PLSScores
    from spotsvm.preprocessing.spectra.savitzky_golay import SavitzkyGolay as SavitzkyGolay
    from spotsvm.preprocessing.spectra.scatter_correction import ScatterCorrection as ScatterCorrection
    from spotsvm.preprocessing.table_encoder import TableEncoder as TableEncoder
    from spotsvm.preprocessing.time_series.block_split import BlockSplit as BlockSplit
    from spotsvm.preprocessing.time_series.complete_rows import CompleteRowsRegressor as CompleteRowsRegressor
    from spotsvm.preprocessing.time_series.delay_embedding import DelayEmbedding as DelayEmbedding
    from spotsvm.preprocessing.time_series.history_pipeline import HistoryPipeline as HistoryPipeline
    from spotsvm.preprocessing.time_series.leaky_rain import LeakyRain as LeakyRain
    from spotsvm.preprocessing.time_series.whole_history import whole_history_scorer as whole_history_scorer
    from spotsvm.reports.methods import MethodsSection as MethodsSection
    from spotsvm.search_cv.average import AverageClassifier as AverageClassifier
    from spotsvm.search_cv.average import AverageRegressor as AverageRegressor
    from spotsvm.search_cv.spot_search_cv import SpotSearchCV as SpotSearchCV
    from spotsvm.solvers.dual import solve_dual as solve_dual
    from spotsvm.solvers.dual import solve_dual_regression as solve_dual_regression
    from spotsvm.space.space import Space as Space
    from spotsvm.study.callbacks import Callback as Callback
    from spotsvm.study.callbacks import StopRun as StopRun
    from spotsvm.study.checks import check_executor as check_executor
    from spotsvm.study.checks import check_stop_rule as check_stop_rule
    from spotsvm.study.early_stopping import BelowMedian as BelowMedian
    from spotsvm.study.early_stopping import EarlyStopping as EarlyStopping
    from spotsvm.study.early_stopping import ImprovementUnlikely as ImprovementUnlikely
    from spotsvm.study.load import list_studies as list_studies
    from spotsvm.study.load import load_study as load_study
    from spotsvm.study.status import Status as Status
    from spotsvm.study.stop import ImprovementBelowUncertainty as ImprovementBelowUncertainty
    from spotsvm.study.stop import StopRule as StopRule
    from spotsvm.study.study import Study as Study
    from spotsvm.surrogates import Kriging as Kriging
    from spotsvm.trials.evaluation import CurrentTrial as CurrentTrial
    from spotsvm.trials.metrics import mean_class_accuracy as mean_class_accuracy
    from spotsvm.trials.metrics import mean_class_accuracy_scorer as mean_class_accuracy_scorer
    from spotsvm.trials.recommendation import Recommendation as Recommendation
    from spotsvm.trials.trial import Trial as Trial
    from spotsvm.tuned.tuned_svc import TunedSVC as TunedSVC
    from spotsvm.tuned.tuned_svr import TunedSVR as TunedSVR
    from spotsvm.tuning.pipelines.default_spaces import default_space as default_space
    from spotsvm.tuning.pipelines.spectra import spectra_pipeline as spectra_pipeline
    from spotsvm.tuning.pipelines.stormwater import stormwater_pipeline as stormwater_pipeline

#: the public names of each module, which is imported when one of them is first used
_NAMES = {
    "comparison.between_sets": "OversearchingMatrix oversearching_between_sets",
    "comparison.compare": "compare",
    "comparison.comparison": "Comparison",
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
    "luck.estimate": "ExpectedScore",
    "luck.explanation": "Explanation",
    "luck.optimism": "Optimism",
    "luck.refits.analysis": "oversearching",
    "luck.refits.search_rows": "expected_score tuning_verdict",
    "multi_kernel.multi_kernel_svc": "MultiKernelSVC",
    "multi_kernel.multi_kernel_svr": "MultiKernelSVR",
    "out_of_fold.table": "OutOfFold",
    "preprocessing.importance_fraction": "ImportanceFraction",
    "preprocessing.principal_monomials": "PrincipalMonomials",
    "preprocessing.spectra.pls_scores": "PLSScores",
    "preprocessing.spectra.savitzky_golay": "SavitzkyGolay",
    "preprocessing.spectra.scatter_correction": "ScatterCorrection",
    "preprocessing.table_encoder": "TableEncoder",
    "preprocessing.time_series.block_split": "BlockSplit",
    "preprocessing.time_series.complete_rows": "CompleteRowsRegressor",
    "preprocessing.time_series.delay_embedding": "DelayEmbedding",
    "preprocessing.time_series.history_pipeline": "HistoryPipeline",
    "preprocessing.time_series.leaky_rain": "LeakyRain",
    "preprocessing.time_series.whole_history": "whole_history_scorer",
    "reports.methods": "MethodsSection",
    "search_cv.average": "AverageClassifier AverageRegressor",
    "search_cv.spot_search_cv": "SpotSearchCV",
    "solvers.dual": "solve_dual solve_dual_regression",
    "space.space": "Space",
    "study.callbacks": "Callback StopRun",
    "study.checks": "check_executor check_stop_rule",
    "study.early_stopping": "BelowMedian EarlyStopping ImprovementUnlikely",
    "study.load": "list_studies load_study",
    "study.status": "Status",
    "study.stop": "ImprovementBelowUncertainty StopRule",
    "study.study": "Study",
    "surrogates": "Kriging",
    "trials.evaluation": "CurrentTrial",
    "trials.metrics": "mean_class_accuracy mean_class_accuracy_scorer",
    "trials.recommendation": "Recommendation",
    "trials.trial": "Trial",
    "tuned.tuned_svc": "TunedSVC",
    "tuned.tuned_svr": "TunedSVR",
    "tuning.pipelines.default_spaces": "default_space",
    "tuning.pipelines.spectra": "spectra_pipeline",
    "tuning.pipelines.stormwater": "stormwater_pipeline",
}
_MODULES = {name: f"spotsvm.{module}" for module, names in _NAMES.items() for name in names.split()}
#: modules of further public names
_FURTHER = ("acquisition", "errors", "kernels", "plots", "searches", "tables")
__all__ = sorted(_MODULES)


if not TYPE_CHECKING:  # from type checkers it would hide that a name does not exist

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used: importing scikit-learn takes most of a second."""
        if name in _FURTHER:
            return import_module(f"spotsvm.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted([*(name for name in globals() if name.startswith("__")), *_FURTHER, *__all__])
