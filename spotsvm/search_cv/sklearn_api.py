"""What a fitted search passes on to its best estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def require_refit(search: Any, name: str) -> None:
    """Raise AttributeError if the search does not refit, and so has no best estimator."""
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {name} is available only after "
            "refitting on the best parameters. You can refit an estimator manually using the `best_params_` attribute"
        )


def _has(name: str) -> Callable[[Any], bool]:
    """Tell whether the estimator, the best one once there is one, has that attribute; AttributeError says why not."""

    def check(search: Any) -> bool:
        require_refit(search, name)
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class BestEstimatorMixin:
    """The methods of an estimator, for a search with `estimator`, `refit` and, once fitted, `best_estimator_`."""

    estimator: Any
    best_estimator_: Any

    @property
    def classes_(self) -> Any:
        """Class labels, where the estimator is a classifier; a list of them where it has several outputs."""
        _has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.") from error
        return int(self.best_estimator_.n_features_in_)

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Call predict on the best estimator."""
        return self._call("predict", X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Call predict_proba on the best estimator."""
        return self._call("predict_proba", X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Call predict_log_proba on the best estimator."""
        return self._call("predict_log_proba", X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Call decision_function on the best estimator."""
        return self._call("decision_function", X)

    @available_if(_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Call score_samples on the best estimator."""
        return self._call("score_samples", X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """Call transform on the best estimator."""
        return self._call("transform", X)

    @available_if(_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Call inverse_transform on the best estimator."""
        return self._call("inverse_transform", X)

    def _call(self, method: str, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, method)(X)


def routing_enabled() -> bool:
    """Say whether scikit-learn passes arguments only to those that request them."""
    return bool(get_config().get("enable_metadata_routing", False))


class RoutingMixin:
    """Passes arguments on as RandomizedSearchCV does: by request where metadata routing is enabled."""

    estimator: Any
    scoring: Any
    cv: Any

    def _route(self, params: Mapping[str, Any]) -> tuple[Bunch, dict[str, Any]]:
        """Say which of fit's further arguments go to the estimator and the splitter, and which to a search on the folds."""
        if routing_enabled():
            for_folds = self._estimator_and_scorer().consumes("fit", params)
            return process_routing(self, "fit", **params), {name: params[name] for name in for_folds}
        given = dict(params)
        groups = given.pop("groups", None)
        return Bunch(estimator=Bunch(fit=given), splitter=Bunch(split={"groups": groups})), given

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where fit's and score's further arguments go, for scikit-learn's metadata routing."""
        return self._estimator_and_scorer().add(
            splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
        )

    def _estimator_and_scorer(self) -> MetadataRouter:
        return (
            MetadataRouter(owner=self)
            .add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
            .add(
                scorer=check_scoring(self.estimator, self.scoring),
                method_mapping=MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score"),
            )
        )
