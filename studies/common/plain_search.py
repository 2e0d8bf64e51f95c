"""SpotSearchCV without what it does beyond a search: one candidate a suggestion, compared by its score on the given folds."""

from __future__ import annotations

from typing import Any

#: the arguments of such a search
PLAIN: dict[str, Any] = {"sweep": None, "start": []}
