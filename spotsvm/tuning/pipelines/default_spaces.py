"""Default search spaces of the transformers and estimators in the pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from spotsvm.errors import ArgumentError
from spotsvm.estimators.class_entries import class_names
from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.estimators.dual.evo_svc import EvoSVC
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.dual.exact_svr import ExactSVR
from spotsvm.estimators.reduced.reduced_svc import ReducedSVC
from spotsvm.preprocessing.importance_fraction import ImportanceFraction
from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
from spotsvm.preprocessing.spectra.pls_scores import PLSScores
from spotsvm.preprocessing.spectra.savitzky_golay import SavitzkyGolay
from spotsvm.preprocessing.spectra.scatter_correction import ScatterCorrection
from spotsvm.preprocessing.time_series.delay_embedding import DelayEmbedding
from spotsvm.preprocessing.time_series.leaky_rain import LeakyRain
from spotsvm.tuned.default_models import default_svm
from spotsvm.tuning.tables.target import Task

Space = dict[str, Any]
#: kernels without gamma; a user's own kernel may have any parameters
_PLAIN = ("linear", "precomputed", "cosine")
#: how numbers are scaled
Scale = Literal["standard", "power"]


def default_space(estimator: Any, classes: Sequence[Any] | None = None) -> Space:
    """Return the default search space of an estimator, or of the steps of a pipeline.

    Parameters
    ----------
    estimator : estimator
        LeakyRain, DelayEmbedding, SavitzkyGolay, ScatterCorrection, PLSScores, PrincipalMonomials, ImportanceFraction,
        CutoffClassifier, SVC, SVR, NuSVC, NuSVR, OneClassSVM, LinearSVC, LinearSVR, KernelRidge, ExactSVC, ExactSVR, EvoSVC,
        ConformalSVC, ReducedSVC, MultiKernelSVC, MultiKernelSVR; or a Pipeline, FeatureUnion, ColumnTransformer or
        TransformedTargetRegressor that contains some. Its other parts are left as they are. The kernel decides which parameters
        are in the space: degree and coef0 for a polynomial kernel, coef0 for a sigmoid kernel, no gamma for a linear kernel.
    classes : sequence, optional
        All classes, for the weights and cutoffs of a CutoffClassifier whose `classes` is None.

    Returns
    -------
    dict
        Distributions by parameter name, as `set_params` takes them.

    Raises
    ------
    ArgumentError
        If no part has a default space, a CutoffClassifier has no classes, or a LeakyRain has a window twice, whose decays cannot
        be tuned separately; a ValueError.

    See Also
    --------
    SpotSearchCV : Searches the space.
    Space : Describes the distributions that a space may have.

    Notes
    -----
    C and gamma have the ranges of LIBSVM's guide. epsilon is in units of the target: scale the target by
    TransformedTargetRegressor.
    nu is from 0.01 to 0.5. The windows of a LeakyRain share one decay. A MultiKernelSVC has the space of the richest of its
    nested kernel models.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> list(
    ...     default_space(
    ...         make_pipeline(PrincipalMonomials(), ImportanceFraction(), SVR())
    ...     )
    ... )
    ['principalmonomials__n_components', 'importancefraction__fraction', 'svr__C', 'svr__gamma', 'svr__epsilon']
    >>> list(default_space(SVC(kernel="poly")))
    ['C', 'gamma', 'degree', 'coef0']
    >>> from spotsvm import Space
    >>> Space(default_space(SVC()))
    <Space of C: 0.03125 to 32768, log; gamma: 3.05176e-05 to 8, log>
    """
    if isinstance(estimator, type):
        raise ArgumentError(f"estimator={estimator.__name__} is a class; use an estimator, such as {estimator.__name__}()")
    space = dict(_found(estimator, "", classes))
    if not space:
        raise ArgumentError(f"{type(estimator).__name__} has no default space; those with one are {', '.join(_names())}")
    return space


def voting_space(classes: Sequence[Any]) -> Space:
    """Return a space of class weights, from 2/3 to 3/2 of their unit, and of cutoffs for all classes but the last.

    Both are log-uniform. For K classes the cutoffs range from 7/8 to 8/7 of 1 / K: with five classes, three votes beat four if
    the cutoffs' ratio is 4/3, so that a wider range would leave little to the votes.
    """
    names = class_names(np.unique(np.asarray(classes)))
    share = 1.0 / len(names)
    space = {f"class_weight__{name}": loguniform(1 / 1.5, 1.5) for name in names}
    return space | {f"cutoff__{name}": loguniform(share * 7 / 8, share * 8 / 7) for name in names[:-1]}


def _found(estimator: Any, prefix: str, classes: Sequence[Any] | None) -> Iterator[tuple[str, Any]]:
    for kind, own in _SPACES.items():
        if isinstance(estimator, kind):
            yield from ((f"{prefix}{name}", distribution) for name, distribution in own(estimator).items())
    if isinstance(estimator, HasModelSpace):
        yield from ((f"{prefix}{name}", distribution) for name, distribution in _several_kernels_space(estimator).items())
    if isinstance(estimator, CutoffClassifier):
        labels = estimator.classes if classes is None else classes
        if labels is None:
            raise ArgumentError("a CutoffClassifier has a weight and a cutoff for each class; pass classes=[...]")
        yield from ((f"{prefix}{name}", distribution) for name, distribution in voting_space(labels).items())
    for name, part in _parts(estimator):
        yield from _found(part, f"{prefix}{name}__", classes)


def _parts(estimator: Any) -> list[tuple[str, Any]]:
    """Return the parts of an estimator, by their prefixes in parameter names."""
    if isinstance(estimator, Pipeline):
        return list(estimator.steps)
    if isinstance(estimator, FeatureUnion):
        return list(estimator.transformer_list)
    if isinstance(estimator, ColumnTransformer):
        return [(name, part) for name, part, _ in estimator.transformers]
    if isinstance(estimator, TransformedTargetRegressor):
        return [("regressor", estimator.regressor)]
    return [("estimator", estimator.estimator)] if isinstance(estimator, CutoffClassifier) else []


def _leaky_rain(estimator: LeakyRain) -> Space:
    """Return the space of one decay, which several windows share, and of a single window."""
    decay = {"decays": uniform(0.0, 0.999)}
    if not np.ndim(estimator.windows):
        return decay | {"windows": randint(10, 501)}
    if len(np.unique(estimator.windows)) < len(estimator.windows):
        raise ArgumentError(
            f"LeakyRain(decays={estimator.decays!r}, windows={estimator.windows!r}) has a window twice, whose decays cannot be "
            "tuned separately; use one LeakyRain per pair in a FeatureUnion"
        )
    return decay


def machine_space(epsilon: bool = False) -> Space:
    """Return the space of an RBF SVM in LIBSVM's guide, with `epsilon` for regression."""
    space = {"C": loguniform(2.0**-5, 2.0**15), "gamma": loguniform(2.0**-15, 2.0**3)}
    return space | ({"epsilon": loguniform(2.0**-8, 1.0)} if epsilon else {})


def kernel_space(machine: Any) -> Space:
    """Return the space of the parameters of an estimator's kernel.

    All but the linear one have gamma; a polynomial kernel has degree 2 to 5 and coef0 0 to 1, a sigmoid one coef0 -1 to 1.
    """
    kernel = machine.kernel
    if not isinstance(kernel, str) or kernel in _PLAIN:
        return {}
    space = {} if getattr(machine, "sigma", None) is not None else {"gamma": machine_space()["gamma"]}
    return space | _shape_space(kernel)


def _shape_space(kernel: Any) -> Space:
    if kernel in ("poly", "polynomial"):
        return {"degree": randint(2, 6), "coef0": uniform(0.0, 1.0)}
    return {"coef0": uniform(-1.0, 2.0)} if kernel == "sigmoid" else {}


def _with_kernel(machine: Any, *names: str) -> Space:
    """Return the space of a kernel estimator: C if it has C, then the kernel's parameters, then the other parameters."""
    ranges = {
        "epsilon": machine_space(epsilon=True)["epsilon"],
        "nu": loguniform(0.01, 0.5),
        "alpha": loguniform(2.0**-15, 2.0**5),
    }
    first = {"C": machine_space()["C"]} if "C" in names else {}
    return first | kernel_space(machine) | {name: ranges[name] for name in names if name != "C"}


@runtime_checkable
class HasModelSpace(Protocol):
    """An estimator with several kernels, which knows the space of its parameters."""

    kernel: Any

    def model_space(self) -> Space:
        """Return the search space of the parameters of the kernels."""
        ...


def _several_kernels_space(machine: HasModelSpace) -> Space:
    """Return the space of an estimator with several kernels: the parameters of its richest model, then the other ones."""
    kernel = machine.kernel if isinstance(machine.kernel, str) else None
    extra = {"epsilon": machine_space(epsilon=True)["epsilon"]} if hasattr(machine, "epsilon") else {}
    return {**machine.model_space(), **_shape_space(kernel), **extra}


#: functions that make the space of an estimator, by its class
_SPACES: dict[Any, Callable[[Any], Space]] = {
    LeakyRain: _leaky_rain,
    DelayEmbedding: lambda _: {"dimensions": randint(2, 61)},
    PrincipalMonomials: lambda _: {"n_components": randint(2, 13)},
    ImportanceFraction: lambda _: {"fraction": uniform(0.05, 0.95)},
    SavitzkyGolay: lambda step: {
        "deriv": list(range(step.polyorder + 1)),  # choices have no end beyond which a search could go on
        "window_length": randint(max(5, step.polyorder + 1), 32),
    },
    ScatterCorrection: lambda _: {"method": ["none", "snv"]},
    PLSScores: lambda _: {"n_components": randint(2, 31)},
    (SVC, ExactSVC, EvoSVC, ConformalSVC): lambda machine: _with_kernel(machine, "C"),
    (SVR, ExactSVR): lambda machine: _with_kernel(machine, "C", "epsilon"),
    LinearSVC: lambda _: {"C": machine_space()["C"]},
    LinearSVR: lambda _: {name: machine_space(epsilon=True)[name] for name in ("C", "epsilon")},
    NuSVC: lambda machine: _with_kernel(machine, "nu"),
    NuSVR: lambda machine: _with_kernel(machine, "C", "nu"),
    OneClassSVM: lambda machine: _with_kernel(machine, "nu"),
    KernelRidge: lambda machine: _with_kernel(machine, "alpha"),
    ReducedSVC: lambda _: machine_space(),
}


def _names() -> list[str]:
    kinds = [kind for key in _SPACES for kind in (key if isinstance(key, tuple) else (key,))]
    return [*(kind.__name__ for kind in [*kinds, CutoffClassifier]), "MultiKernelSVC", "MultiKernelSVR"]


#: most rows whose kernel matrix fits into the memory limit of shared work
_SHARED_ROWS = 20_000


def iteration_cap(n_samples: int) -> int:
    """Return the maximum number of a solver's iterations, so that a fit that does not converge ends with the score reached."""
    return max(100_000, 200 * n_samples)


def table_pipeline(
    task: Task, n_samples: int, categorical: Sequence[str] = (), scale: Scale = "standard", class_weight: Any = None
) -> tuple[Pipeline, dict[str, Any]]:
    """Return the default SVM for columns of any kind, and its space: that of LIBSVM's guide (Hsu et al. 2003).

    In regression epsilon is in standard deviations of the target. scale="power" standardises before Yeo-Johnson, whose exponents
    explode with little spread. Where work cannot be shared, iterations are capped.
    """
    classify = task == "classification"
    cap = -1 if classify and n_samples <= _SHARED_ROWS else iteration_cap(n_samples)
    scaler = None if scale == "standard" else make_pipeline(StandardScaler(), PowerTransformer())
    pipeline = default_svm(classify, tuple(categorical), scaler=scaler, max_iter=cap, class_weight=class_weight)
    return pipeline, default_space(pipeline)
