"""Where the further arguments of a search's fit and score go: to the estimator, the splitter or the scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing


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
