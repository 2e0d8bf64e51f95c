"""CutoffClassifier: a classifier with a weight and a voting cutoff for each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags, indexable
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from spotsvm.common.checks import check_choice
from spotsvm.common.targets import as_classes, check_sample_weight
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.class_entries import balanced_weights, class_cutoffs, class_weights, known_classes, with_entries
from spotsvm.estimators.entry_parameters import EntryParametersMixin
from spotsvm.solvers.dual.problem.one_vs_one import one_vs_rest, pairs


@dataclass(eq=False, repr=False)
class CutoffClassifier(ClassifierMixin, MetaEstimatorMixin, EntryParametersMixin, BaseEstimator):
    """Choose the class with the largest share of votes over its cutoff, trained with a weight for each class.

    The entries of the dicts `class_weight` and `cutoff` are parameters too, `class_weight__<class>` and `cutoff__<class>`. So a
    search can tune the K weights and K - 1 cutoffs, as the last cutoff follows from the others.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The classifier that votes; None for SVC(). It may be a pipeline that ends in a classifier.
    class_weight : array-like, dict, "balanced" or None, default=None
        Positive weights: one for each class, sorted; or a dict from classes, or their text, to weights, 1 for a class that is
        left out. They become the `class_weight` of the estimator, or the weights of its rows if it has no such parameter. None
        does not change the estimator.
    cutoff : array-like, dict or None, default=None
        Positive cutoffs that sum to 1 at most: one for each class, sorted, or for all but the last one; or a dict from classes,
        or their text, to cutoffs. Classes without a cutoff share the rest of 1. None for equal cutoffs.
    weight_unit : {"balanced"} or None, default=None
        The unit of the weights: None for 1; or "balanced" for n / (K count) of each class, which is inversely
        proportional to its rows, or to their weights, so that all classes weigh the same where `class_weight` is None or 1.
    classes : array-like or None, default=None
        All possible classes; None for the classes of the training data. A class that the training data lack gets no vote. Name
        all classes if a fold may lack one.
    response_method : {"auto", "votes", "soft_votes", "predict_proba", "decision_function"}, default="auto"
        The source of the shares: "votes" of all pairs of classes, ties broken by their decisions; "soft_votes", where each pair
        divides its vote by the logistic function of its decision; probabilities; or the softmax of decision values. "auto" is
        the first that the estimator has of votes, probabilities and decision values. Two classes are one pair, whose decision
        value is always divided by the logistic function.
    excess : {"raise", "scale"}, default="raise"
        The treatment of cutoffs whose sum exceeds 1: an error; or all are divided by their sum, as only their ratios matter.
        Before, classes without a cutoff get 0.01 together.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator; its classes are the numbers of these, from 0.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Their weights, in units of 1; 1 where none were given.
    cutoff_ : ndarray of shape (n_classes,)
        Their cutoffs.
    response_method_ : str
        The source of the shares.
    n_features_in_, feature_names_in_
        As the estimator has them.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above; a ValueError.

    See Also
    --------
    mean_class_accuracy : A score that cutoffs improve.
    SpotSearchCV : Searches cutoffs in sweeps.

    Notes
    -----
    The rule is that of `cutoff` in R's randomForest, which the paper's Tuned Data Mining framework used. With equal cutoffs it is
    the estimator's own rule; for an SVC of three classes or more, with `break_ties=True`. The paper's sum constraint cannot mean
    that the cutoffs sum to 1: the best cutoffs of its Table 8, with the fifth, sum to 1.195. `excess="scale"` accepts them
    unchanged.

    It passes the checks of scikit-learn's estimators that its estimator passes. SVC, the default, itself fails that of weights
    and repeated rows: gamma="scale" counts rows, and LIBSVM stops within a tolerance.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.2.
    Breiman, Cutler, Liaw, Wiener, "randomForest: Breiman and Cutler's Random Forests for Classification and Regression".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> machine = CutoffClassifier(SVC(), cutoff={0: 0.5}).fit(X, y)
    >>> machine.cutoff_.tolist()
    [0.5, 0.25, 0.25]
    >>> machine.set_params(cutoff__1=0.1, class_weight__2=0.3).cutoff
    {0: 0.5, '1': 0.1}
    """

    _with_entries = ("class_weight", "cutoff")

    estimator: Any = None
    _: KW_ONLY
    class_weight: Any = None
    cutoff: Any = None
    weight_unit: Literal["balanced"] | None = None
    classes: Any = None
    response_method: Literal["auto", "votes", "soft_votes", "predict_proba", "decision_function"] = "auto"
    excess: Literal["raise", "scale"] = "raise"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator with the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows, for the estimator's fit.
        **params : dict
            Passed on to the estimator's fit; by request where metadata routing is enabled.

        Returns
        -------
        CutoffClassifier
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid, or fewer than two classes are there; a ValueError.

        See Also
        --------
        predict : The classes of new rows.
        """
        check_choice("response_method", self.response_method, RESPONSES)
        if y is None:
            raise ArgumentError(f"{type(self).__name__}.fit requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        labels = as_classes(y, type(self).__name__)
        classes = known_classes(labels, self.classes)
        cutoff = class_cutoffs(self.cutoff, classes, self.excess)
        codes = np.searchsorted(classes, labels)
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        weights = None if balanced else class_weights(self.class_weight, classes)
        if self._unit_is_balanced(balanced):
            unit = balanced_weights(codes, len(classes), sample_weight)
            weights = unit if weights is None else unit * weights
        estimator = clone(self._estimator)
        response = self._prepare(estimator)
        if params and get_config()["enable_metadata_routing"]:
            params = dict(process_routing(self, "fit", **params).estimator.fit)
        if sample_weight is not None:
            check_sample_weight(sample_weight, len(labels))
            params = {**params, row_weights_name(estimator): sample_weight}
        # libsvm prints a warning of weights for classes that are not there
        by_class = None if weights is None else {int(k): float(weights[k]) for k in np.unique(codes)}
        self.estimator_ = weighted_fit(estimator, X, codes, "balanced" if balanced else by_class, params)
        self.classes_, self.cutoff_, self.response_method_ = classes, cutoff, response
        self.class_weight_ = np.ones(len(classes)) if weights is None else weights
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the votes that each class has, whatever its cutoff.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The shares; they sum to 1.

        See Also
        --------
        decision_function : The shares in relation to the cutoffs.
        """
        check_is_fitted(self)
        return self._spread(shares_from(self.response_method_, self.estimator_, X))

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The share of each class over its cutoff; the largest one wins. Of two classes one value, positive for the second
            class: the estimator's decision value less the logarithm of the cutoffs' ratio, or, of probabilities, the difference
            of the two.

        See Also
        --------
        predict : The classes that follow from it.
        vote_shares : The shares of votes, without cutoffs.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2 and self.response_method_ != "predict_proba":
            decisions: Floats = self.estimator_.decision_function(X) - np.log(self.cutoff_[1] / self.cutoff_[0])
            return decisions
        ratios = self.vote_shares(X) / self.cutoff_
        return ratios[:, 1] - ratios[:, 0] if len(self.classes_) == 2 else ratios

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.

        See Also
        --------
        decision_function : What decides.
        """
        decisions = self.decision_function(X)
        if decisions.ndim > 1:
            chosen = np.argmax(decisions, axis=1)
        else:
            # at 0 as the estimators have it: an SVM's second class, the first of equal probabilities
            chosen = (decisions > 0 if self.response_method_ == "predict_proba" else decisions >= 0).astype(np.intp)
        predicted: NDArray[Any] = self.classes_[chosen]
        return predicted

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: fit passes further arguments to the estimator.

        Returns
        -------
        MetadataRouter
            The routing, for scikit-learn.

        See Also
        --------
        fit : What the arguments are passed to.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self._estimator, method_mapping=mapping)

    def _replaced(self, parameter: str, entries: Mapping[str, Any]) -> dict[Any, Any]:
        return with_entries(parameter, getattr(self, parameter), entries, self.classes)

    @property
    def _estimator(self) -> Any:
        return SVC() if self.estimator is None else self.estimator

    def _unit_is_balanced(self, balanced: bool) -> bool:
        if self.weight_unit is None:
            return False
        if not (isinstance(self.weight_unit, str) and self.weight_unit == "balanced"):
            raise ArgumentError(f"weight_unit={self.weight_unit!r}; use 'balanced' or None")
        if balanced:
            raise ArgumentError("class_weight='balanced' cannot be combined with weight_unit; use class_weight=None")
        return True

    def _prepare(self, estimator: Any) -> str:
        """Choose the response, and set an estimator of pairs of classes to return it."""
        prefix = machine_prefix(estimator)
        known = estimator.get_params(deep=True)
        pairs = f"{prefix}decision_function_shape"
        response = chosen_response(self.response_method, estimator, pairs in known)
        if pairs in known:
            estimator.set_params(**{pairs: "ovo" if response.endswith("votes") else "ovr"})
            if known.get(f"{prefix}break_ties"):  # predict is ours, and this does not go with "ovo"
                estimator.set_params(**{f"{prefix}break_ties": False})
        return response

    def _spread(self, shares: Floats) -> Floats:
        """Extend the shares of the classes in training to all classes."""
        there = self.estimator_.classes_
        if len(there) == len(self.classes_):
            return shares
        every = np.zeros((len(shares), len(self.classes_)))
        every[:, there] = shares
        return every

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = own.sparse, own.pairwise
        tags.input_tags.allow_nan = own.allow_nan
        return tags


RESPONSES = ("auto", "votes", "soft_votes", "predict_proba", "decision_function")


def chosen_response(method: str, estimator: Any, one_vs_one: bool) -> str:
    """Return the response that is used: with "auto" the first available of votes, probabilities and decision values."""
    there = {
        "votes": one_vs_one,
        "soft_votes": one_vs_one,
        "predict_proba": hasattr(estimator, "predict_proba"),
        "decision_function": hasattr(estimator, "decision_function"),
    }
    wanted = ("votes", "predict_proba", "decision_function") if method == "auto" else (method,)
    found = next((name for name in wanted if there[name]), None)
    if found is None:
        has = ", ".join(repr(name) for name, has_it in there.items() if has_it) or "none of them"
        raise ArgumentError(f"response_method={method!r}: {type(estimator).__name__} does not have this response; it has {has}")
    return found


def shares_of_votes(decisions: Floats, n_classes: int, soft: bool) -> Floats:
    """Return the shares of votes, (n_samples, n_classes), from the decisions of all pairs of classes.

    With `soft` a pair divides its vote by the logistic function of its decision. Otherwise one class gets all of it, and the sum
    of a class's decisions, squashed to a third of a vote, breaks ties.
    """
    if soft:
        shares = np.zeros((len(decisions), n_classes))
        for k, (i, j) in enumerate(pairs(n_classes)):
            shares[:, i] += expit(decisions[:, k])
            shares[:, j] += expit(-decisions[:, k])
    else:
        shares = np.maximum(one_vs_rest(decisions, n_classes), 0.0)
    normed: Floats = shares / shares.sum(axis=1, keepdims=True)
    return normed


def shares_from(response: str, estimator: Any, X: Any) -> Floats:
    """Return the shares of the classes, which sum to 1; a classifier of pairs must have decision_function_shape="ovo"."""
    if response == "predict_proba":
        probabilities: Floats = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return probabilities
    decisions = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if decisions.ndim == 1:
        return np.column_stack([expit(-decisions), expit(decisions)])
    if response == "decision_function":
        normed: Floats = softmax(decisions, axis=1)
        return normed
    return shares_of_votes(decisions, len(estimator.classes_), response == "soft_votes")


def machine_prefix(estimator: Any) -> str:
    """Return the prefix of the parameters of an estimator's machine: none, or a pipeline's last steps."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix


def row_weights_name(estimator: Any) -> str:
    """Return fit's parameter name for row weights; with metadata routing a pipeline passes those that its steps request."""
    return "sample_weight" if get_config()["enable_metadata_routing"] else f"{machine_prefix(estimator)}sample_weight"


def weighted_fit(
    estimator: Any, X: Any, codes: NDArray[np.intp], weights: dict[int, float] | str | None, params: Mapping[str, Any]
) -> Any:
    """Fit an estimator, which is changed, with class weights; None stands for its own."""
    if weights is None:
        return estimator.fit(X, codes, **params)
    prefix = machine_prefix(estimator)
    own = estimator.get_params(deep=True)
    if f"{prefix}class_weight" in own:
        if own[f"{prefix}class_weight"] is not None:
            raise ArgumentError(f"class_weight is given, but the estimator has its own {prefix}class_weight; use one of them")
        estimator.set_params(**{f"{prefix}class_weight": weights})
        return estimator.fit(X, codes, **params)
    machine = own[prefix.removesuffix("__")] if prefix else estimator
    if not has_fit_parameter(machine, "sample_weight"):
        raise ArgumentError(
            f"class_weight={weights!r}: {type(machine).__name__} has neither class_weight nor weights of rows; use None"
        )
    of_rows = compute_sample_weight(weights, codes)
    name = row_weights_name(estimator)
    if params.get(name) is not None:
        of_rows = of_rows * np.asarray(params[name])
    return estimator.fit(X, codes, **{**params, name: of_rows})
