"""SpotSearchCV as a plain search: one candidate per suggestion, compared by its score on the given folds."""

from __future__ import annotations

from typing import Any

#: arguments of a plain search
PLAIN: dict[str, Any] = {"sweep": None, "start": []}
