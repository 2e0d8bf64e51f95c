"""Data sets whose columns come in groups: the views of handwritten numerals, and internet advertisements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from spotsvm.studies.common.data import Floats, read_table

#: the order in which Carrizosa 2014's Table 2 has the views of 4 and of 6 groups
MFEAT_VIEWS = ("fou", "kar", "pix", "zer", "fac", "mor")
ADS_VIEWS = ("url", "origurl", "ancurl", "alt", "caption")


class ViewSet(NamedTuple):
    """Rows whose columns come in groups, their labels -1 and 1, and the columns of each group."""

    name: str
    X: Floats
    y: Floats
    groups: dict[str, slice]

    def split(self, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return two thirds of the rows and their labels, drawn at random, then the other third's; scaled by the first's."""
        train, test = train_test_split(np.arange(len(self.y)), test_size=round(len(self.y) / 3), random_state=seed)
        scaler = StandardScaler().fit(self.X[train])
        return scaler.transform(self.X[train]), self.y[train], scaler.transform(self.X[test]), self.y[test]


def read_mfeat(task: str, n_views: int) -> ViewSet:
    """Read the first 4 or all 6 views of 2000 handwritten numerals: even digits against odd ("EO"), or below five ("SL")."""
    views = [read_table(f"mfeat_{view}") for view in MFEAT_VIEWS[:n_views]]
    digit = views[0]["y"].to_numpy()
    return _of_parts(f"mfeat{task}{n_views}", [v.drop(columns="y") for v in views], MFEAT_VIEWS, _classes(digit, task))


def read_ads() -> ViewSet:
    """Read the available internet advertisements: 1966 of 3279 rows, the five groups of words, no geometry."""
    table = read_table("internet_ads")
    parts = [table.filter(regex=f"^{view}_") for view in ADS_VIEWS]
    return _of_parts("addata (1966 rows)", parts, ADS_VIEWS, np.where(table["y"] == "ad", 1.0, -1.0))


def digits_by_quarters() -> ViewSet:
    """Return 300 of scikit-learn's digits with the quarters of their images as groups, even digits against odd digits."""
    X, digit = load_digits(return_X_y=True)
    images = X[:300].reshape(-1, 8, 8)
    parts = [pd.DataFrame(images[:, r : r + 4, c : c + 4].reshape(300, -1)) for r in (0, 4) for c in (0, 4)]
    return _of_parts(
        "digits by quarters", parts, ("upper left", "upper right", "lower left", "lower right"), _classes(digit[:300], "EO")
    )


def _classes(digit: NDArray[np.int64], task: str) -> Floats:
    return np.where(digit % 2 == 0 if task == "EO" else digit < 5, 1.0, -1.0)


def _of_parts(name: str, parts: list[pd.DataFrame], names: tuple[str, ...], y: Floats) -> ViewSet:
    ends = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
    groups = {view: slice(a, b) for view, a, b in zip(names, ends[:-1], ends[1:], strict=False)}
    return ViewSet(name, np.hstack([part.to_numpy(dtype=np.float64) for part in parts]), y, groups)
