"""A classifier with a whole Pareto front of margin against training error, found by NSGA-II; of several classes one a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice, check_count, check_flag, check_positive
from spotsvm.common.targets import as_classes
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svc import PairClassifier
from spotsvm.estimators.dual.kernel_machine import check_square
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.dual.front.front import Front, better_than_constant, exact_front, natural_scale, resolve_front, without_C
from spotsvm.solvers.dual.front.margin_error import MarginError
from spotsvm.solvers.dual.problem.one_vs_one import chosen_classes, pairs
from spotsvm.solvers.kernels import KernelFunction, gram_matrix, kernel_matrix, make_kernel
from spotsvm.solvers.pareto import knee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class MarginErrorFront(PairClassifier, BaseEstimator):
    """Kernel classifiers for every trade-off of margin against training error; there is no C.

    A support vector machine adds two competing criteria, a wide margin 1 / ||w|| and few training errors, and leaves the weight C
    to the user (Mierswa 2006, eq. 22). Here both are minimised at the same time, ||w||^2 = alpha' Q alpha and the error, over
    expansions f(x) = sum_j alpha_j y_j k(x_j, x) + b with alpha >= 0: by pymoo's NSGA-II (Deb et al. 2002), which starts from
    exact solutions along C and random expansions, and never loses an exact one. The result is the front. With more than two
    classes each pair of classes has its own front, and the pairs vote.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "epanechnikov", "multiquadric", "negative_multiquadric", "precomputed",
        or a function of two arrays that returns their kernel matrix. It may be indefinite: expansions with ||w||^2 <= 0 have no
        margin and are left out. Of the others, some have a small ||w||^2 because its parts cancel; they can be free of errors at
        almost any margin, so that the front is short, and far better than that of exact solutions.
    gamma : {"scale", "auto"} or float, default="scale"
        As in SVC.
    degree : int, default=3
        As in SVC.
    coef0 : float, default=0.0
        As in SVC.
    error : {"hinge", "count"}, default="hinge"
        The training error. A row is an error if it falls short of the functional margin 1. The predicted side alone would not
        compete with the margin: shrinking w widens the margin and changes no side.

        - "hinge": the mean of max(0, 1 - y f). Both criteria are convex if the kernel is positive semidefinite: the best front is
          exactly that of a support vector machine along C, and evolution can only fill it in. This makes the front reliable, so
          "hinge" is the default; on new rows neither error has predicted better than the other.
        - "count": the share of such rows, the margin error of statistical learning theory. It is not convex, no C finds its
          front, and evolution improves on the exact solutions. It ignores the distance of an outlier. At the end, each point is
          solved again exactly on its rows without an error.
    bias : bool, default=True
        Whether each expansion has the threshold b that is best for `error`; else b = 0, as in the paper.
    sparse : bool, default=False
        Whether the number of support vectors is a third criterion, also to be minimised. The front then has more points, among
        them some with few support vectors that are neither of the widest margin nor of the smallest error.
    n_exact : int, default=16
        Exact solutions to start from, at values of C in geometric steps from 1/n to 1024, divided by the mean squared distance
        of the rows from their centre in feature space; at least 2.
    population_size : int, default=60
        Individuals of NSGA-II, at least 4.
    n_generations : int, default=100
        Generations; 0 leaves the exact solutions.
    select : {"knee", "validation"}, default="knee"
        How the point for `predict` is chosen. "knee": the point farthest below the straight line between the ends of the front
        in (||w||^2, error), each scaled to [0, 1]; by "hinge" this is the support vector machine whose C is the slope of that
        line. With `sparse` it has the smallest sum of the three scaled criteria. "validation": the smallest error on held-out
        rows; of equal errors the widest margin.
    validation_fraction : float, default=0.2
        Share of the rows, by class, held out with select="validation". They take no part in the front.
    tol : float, default=1e-3
        Tolerance of the exact solutions, as in SVC.
    random_state : int, RandomState or None, default=None
        Seed of the evolution and of the held-out rows.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether the decision function of several classes has a column for each class or for each pair.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    pairs_ : list of MarginErrorFront
        With more than two classes the fitted classifier of each pair of them, in the order (0, 1), (0, 2), ..., (1, 2), ...; it
        has all of the attributes below, for the rows of its two classes. Empty with two classes.
    front_ : DataFrame
        With more than two classes the fronts of all pairs, with the pair in the first columns, `negative` and `positive`, and
        the point in the third. A row a point, the widest margin first; no point is at least as good as another in all criteria,
        but for rounding, and all have a smaller error than the constant function, which is the only point if no other is
        better. Columns: `margin`, `norm_squared`, `hinge_error`, `count_error` (as above), `misclassified` (share of training
        rows that `predict` gets wrong), `n_support`, `validation_error` if there is one, `source` ("exact"; "unconverged" if
        the exact solver gave up; "scaled" at the end with the widest margin; "evolved"; "re-solved") and `C` (of exact
        solutions, which by "count" are scaled to the margin of some row). The widest margin is the root of the mean squared
        distance of the rows from their centre in feature space: beyond it the decision function is all but constant.
    exact_front_ : DataFrame
        The front of the exact solutions alone, with the columns of `front_`.
    objectives_ : ndarray of shape (n_points, 2 or 3)
        The minimised criteria: ||w||^2, the training error of `error` and, with `sparse`, the number of support vectors. This and
        what follows, up to the kernel, is of two classes; see `pairs_`.
    alphas_ : ndarray of shape (n_points, n_training)
        Coefficients.
    biases_ : ndarray of shape (n_points,)
        Thresholds.
    training_indices_ : ndarray of shape (n_training,)
        Rows of X that the front was computed on: all but the held-out rows.
    selected_ : int
        Index of the point in use.
    support_ : ndarray of shape (n_support,)
        Rows of X that are its support vectors.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Its support vectors; of shape (0, 0) with a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_support)
        Their alpha_j y_j.
    intercept_ : ndarray of shape (1,)
        Its threshold.
    kernel_ : spotsvm.solvers.kernels.Kernel
        The kernel, its gamma a number.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above or y has one class.
    SolverError
        If the kernel's parameters are not as above, or its matrix is not symmetric or not finite.

    See Also
    --------
    EvoSVC : One model, for one C.
    ExactSVC : The exact solution for one C.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", sections 3, 4.2 and 6, which names this as future work.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(60, flip_y=0.2, random_state=0)
    >>> model = MarginErrorFront(n_generations=20, random_state=0).fit(X, y)
    >>> bool(
    ...     model.front_.margin.is_monotonic_decreasing
    ...     and model.front_.hinge_error.is_monotonic_decreasing
    ... )
    True
    >>> widest = model.classifier_at(0)
    >>> bool(
    ...     widest.front_.misclassified[0]
    ...     >= model.front_.misclassified[model.selected_]
    ... )
    True
    """

    kernel: str | KernelFunction = "rbf"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    error: Literal["hinge", "count"] = "hinge"
    bias: bool = True
    sparse: bool = False
    n_exact: int = 16
    population_size: int = 60
    n_generations: int = 100
    select: Literal["knee", "validation"] = "knee"
    validation_fraction: float = 0.2
    tol: float = 1e-3
    random_state: Any = None
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    def fit(self, X: Any, y: Any) -> MarginErrorFront:
        """Find the front of a training set and choose a point.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows; with kernel="precomputed" the kernel matrix (n, n).
        y : array-like of shape (n,)
            Labels of two classes or more.

        Returns
        -------
        MarginErrorFront
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid, or y has one class; a ValueError.

        See Also
        --------
        classifier_at : A classifier of any point of the front.
        plot : The front as a picture.
        """
        check_parameters(self.get_params(deep=False))
        X, y = validate_data(self, X, as_classes(y, type(self).__name__), dtype=np.float64)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ArgumentError(f"y has only one class, {self.classes_[0]}; two classes are needed")
        random = check_random_state(self.random_state)
        precomputed = self._precomputed
        check_square(X, precomputed)
        if len(self.classes_) > 2:
            return self._fit_pairs(X, y, random)
        self.pairs_: list[MarginErrorFront] = []
        signs = np.where(y == self.classes_[1], 1.0, -1.0)
        training, held_out = self._split(signs, random)
        rows = X[np.ix_(training, training)] if precomputed else X[training]
        self.kernel_ = make_kernel(self.kernel, rows, gamma=self.gamma, coef0=self.coef0, degree=self.degree)
        criteria = MarginError(gram_matrix(self.kernel_, rows), signs[training], self.error, self.bias, sparse=self.sparse)
        front, exact = self._find(criteria, np.random.default_rng(random.randint(2**31)))
        self.training_indices_ = training
        self.alphas_ = front.expansions.alpha
        self.biases_ = front.expansions.bias
        self.objectives_ = criteria.objectives(front.expansions)
        self.front_ = front_table(front)
        self.exact_front_ = front_table(exact)
        self._signs_in_front = criteria.y
        self._rows = np.empty((0, 0)) if precomputed else rows
        if len(held_out):
            self.front_.insert(6, "validation_error", self._errors(X[held_out], signs[held_out]))
            self._use(int(np.argmin(self.front_["validation_error"])))
        else:
            self._use(knee(self.objectives_))
        return self

    def _fit_pairs(self, X: Floats, y: NDArray[Any], random: np.random.RandomState) -> MarginErrorFront:
        """Fit a classifier of two classes to each pair."""
        self.pairs_, fronts = [], []
        self._rows_of_pairs = []
        for i, j in pairs(len(self.classes_)):
            rows = np.flatnonzero(np.isin(y, self.classes_[[i, j]]))
            part = X[np.ix_(rows, rows)] if self._precomputed else X[rows]
            one = clone(self).set_params(random_state=random.randint(2**31)).fit(part, y[rows])
            self.pairs_.append(one)
            self._rows_of_pairs.append(rows)
            front = one.front_.reset_index(names="point")
            front.insert(0, "negative", self.classes_[i])
            front.insert(1, "positive", self.classes_[j])
            fronts.append(front)
        self.front_ = pd.concat(fronts, ignore_index=True)
        return self

    def _pair_decisions(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if not self.pairs_:
            return self._decide(X)[:, None]
        # of several classes a pair's decision is positive for its first class
        columns = [
            -one._decide(X[:, rows] if self._precomputed else X)
            for one, rows in zip(self.pairs_, self._rows_of_pairs, strict=True)
        ]
        return np.column_stack(columns)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of rows by the point in use.

        Parameters
        ----------
        X : array-like of shape (m, d)
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (m,)
            The classes; of two classes the first where the decision is 0.

        See Also
        --------
        classifier_at : The classifier of another point.
        """
        decisions = self._pair_decisions(X)
        if len(self.classes_) > 2:
            chosen = chosen_classes(decisions, len(self.classes_), True)
        else:
            chosen = (decisions[:, 0] > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def _breaks_ties(self) -> bool:
        return True

    def _decide(self, X: Floats) -> Floats:
        """Return f(x) of the point in use at checked rows, of two classes; positive for the second."""
        if not len(self.support_):
            return np.full(len(X), self.intercept_[0])
        values = X[:, self.support_] if self._precomputed else kernel_matrix(self.kernel_, X, self.support_vectors_)
        return np.asarray(values @ self.dual_coef_[0] + self.intercept_[0], dtype=np.float64)

    def classifier_at(self, index: int | Sequence[int]) -> MarginErrorFront:
        """Return a fitted classifier that uses another point of the front.

        Parameters
        ----------
        index : int or sequence of int
            Row of `front_`; negative ones count from the end. With more than two classes a `point` for each pair.

        Returns
        -------
        MarginErrorFront
            A copy that shares its arrays with this one.

        Raises
        ------
        ArgumentError
            If there is no such point.

        See Also
        --------
        predict : Uses the point that fit has chosen.
        plot : Shows what there is to choose from.
        """
        check_is_fitted(self)
        if self.pairs_:
            return self._of_points(index)
        size, place = len(self.front_), as_integer(index)
        if place is None or not -size <= place < size:
            raise ArgumentError(f"index={index!r} is not a point of the front; use an integer from 0 to {size - 1}")
        other = copy(self)
        other._use(place % size)
        return other

    def _of_points(self, indices: Any) -> MarginErrorFront:
        n = len(self.pairs_)
        if isinstance(indices, str) or not isinstance(indices, Sequence | np.ndarray) or len(indices) != n:
            raise ArgumentError(
                f"index={indices!r}; of {len(self.classes_)} classes use a sequence of {n} points, one for each pair"
            )
        other = copy(self)
        other.pairs_ = [one.classifier_at(point) for one, point in zip(self.pairs_, indices, strict=True)]
        return other

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw training error against margin: the front, the exact solutions along C, and the point in use.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ArgumentError
            With more than two classes: `pairs_` has a picture each.

        See Also
        --------
        classifier_at : A classifier of a point in the picture.
        """
        check_is_fitted(self)
        if self.pairs_:
            raise ArgumentError(f"plot of {len(self.classes_)} classes: each pair has a front; use pairs_[0].plot()")
        return plot_front(self, ax)

    def _find(self, criteria: MarginError, generator: np.random.Generator) -> tuple[Front, Front]:
        scale = natural_scale(criteria.K)
        criteria.smallest_norm = 1.0 / scale
        exact = exact_front(criteria, np.geomspace(1.0 / (len(criteria.y) * scale), 1024.0 / scale, self.n_exact), self.tol)
        front = exact
        if self.n_generations:
            from spotsvm.solvers.dual.front.evolve_front import evolve_front

            front = evolve_front(criteria, exact, self.population_size, self.n_generations, generator)
            if self.error == "count":
                front = resolve_front(criteria, front, self.population_size, self.tol)
        front, exact = better_than_constant(criteria, front), better_than_constant(criteria, exact)
        if not len(front):
            front = without_C(criteria.constant(), "exact")
        return front, exact

    def _use(self, index: int) -> None:
        used = np.flatnonzero(self.alphas_[index])
        self.selected_ = index
        self.support_ = self.training_indices_[used]
        self.support_vectors_ = self._rows if self._precomputed else self._rows[used]
        self.dual_coef_ = (self.alphas_[index] * self._signs_in_front)[used][None, :]
        self.intercept_ = self.biases_[index : index + 1]

    def _errors(self, X: Floats, signs: Floats) -> Floats:
        values = X[:, self.training_indices_] if self._precomputed else kernel_matrix(self.kernel_, X, self._rows)
        decisions = (self.alphas_ * self._signs_in_front) @ values.T + self.biases_[:, None]
        wrong: Floats = ((decisions > 0) != (signs > 0)).mean(axis=1)
        return wrong

    def _split(self, signs: Floats, random: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        rows = np.arange(len(signs))
        if self.select == "knee":
            return rows, rows[:0]
        try:
            training, held_out = train_test_split(rows, test_size=self.validation_fraction, stratify=signs, random_state=random)
        except ValueError as error:
            raise ArgumentError(
                f"validation_fraction={self.validation_fraction!r} of {len(signs)} rows leaves no row of some class on one "
                'side; use more rows, another fraction, or select="knee"'
            ) from error
        return np.sort(training), np.sort(held_out)


def check_parameters(given: Mapping[str, Any]) -> None:
    """Raise ArgumentError if a parameter of `MarginErrorFront` is invalid; the kernel checks its own parameters."""
    for name, least in (("n_exact", 2), ("population_size", 4), ("n_generations", 0)):
        check_count(name, given[name], least)
    check_choice("error", given["error"], ("hinge", "count"))
    check_choice("select", given["select"], ("knee", "validation"))
    check_flag("bias", given["bias"])
    check_flag("sparse", given["sparse"])
    check_choice("decision_function_shape", given["decision_function_shape"], ("ovr", "ovo"))
    if not 0 < as_float(given["validation_fraction"]) < 1:
        raise ArgumentError(f"validation_fraction={given['validation_fraction']!r}; use a number between 0 and 1")
    check_positive("tol", given["tol"])


def as_integer(value: Any) -> int | None:
    """Return an integer as an int, and None for anything else, booleans included."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def front_table(front: Front) -> pd.DataFrame:
    """Return one row per point, with the columns of `MarginErrorFront.front_` except the validation error."""
    points = front.expansions
    with np.errstate(divide="ignore"):  # the constant function has no norm, and an infinite margin
        margin = 1.0 / np.sqrt(points.norm_squared)
    return pd.DataFrame(
        {
            "margin": margin,
            "norm_squared": points.norm_squared,
            "hinge_error": points.hinge,
            "count_error": points.count,
            "misclassified": points.misclassified,
            "n_support": np.count_nonzero(points.alpha, axis=1),
            "source": front.source,
            "C": front.C,
        }
    )


_ERRORS = {"hinge": "training error (mean hinge slack)", "count": "training error (share of rows short of the margin)"}
_EXACT = {"hinge": "exact solutions along C", "count": "exact solutions along C, at all scales"}
_CHOSEN_BY = {"knee": "knee", "validation": "smallest validation error"}


def plot_front(model: MarginErrorFront, ax: Axes | None = None) -> Axes:
    """Draw the front of two classes; see `MarginErrorFront.plot`."""
    from matplotlib.ticker import LogLocator, NullFormatter  # on use: matplotlib takes half a second

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    front, exact, error, selected = model.front_, model.exact_front_, model.error, model.selected_
    column, label = f"{error}_error", f"front ({len(front)} points)"
    if model.sparse:
        points = ax.scatter(front["margin"], front[column], s=8, c=front["n_support"], cmap="viridis_r", label=label, zorder=2)
        figure: Any = ax.get_figure()
        figure.colorbar(points, ax=ax, label="support vectors")
    else:
        ax.step(front["margin"], front[column], where="post", color="tab:blue", lw=1, alpha=0.6, zorder=1)
        ax.plot(front["margin"], front[column], ".", ms=4, color="tab:blue", label=label, zorder=2)
    exact = exact[exact["source"] != "scaled"]
    ax.plot(exact["margin"], exact[column], "o", ms=6, mfc="none", mec="tab:orange", label=_EXACT[error], zorder=3)
    chosen = front.iloc[selected]
    used = f"in use: {_CHOSEN_BY[model.select]}"
    ax.plot(chosen["margin"], chosen[column], "*", ms=14, color="tab:red", mec="black", label=used, zorder=4)
    if chosen["margin"] < float("inf"):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))  # a front often spans less than a power of ten
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("margin 1 / ||w|| (wider is better)")
    ax.set_ylabel(_ERRORS[error])
    ax.legend()
    return ax
