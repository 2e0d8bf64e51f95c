"""
Molecular fingerprints and the Tanimoto kernel
==============================================

Simulated molecules are compared by the share of fragments that both have. This
share is a kernel of your own, and its exponent is tuned with C.
"""

from time import perf_counter
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.svm import SVC

from spotsvm import ExactSVC, SpotSearchCV, TunedSVC

# %%
# A simulated molecule is a random tree of 6 to 40 functional groups of 8
# kinds, 0 to 7. Its fingerprint has a bit for each path of up to 4 groups.
# It is active if an amide (2) is two or three bonds from a ring (1) and it
# has no acid (3); one label of twenty is wrong.

rng = np.random.default_rng(0)
X, y = np.zeros((2000, 1024)), np.zeros(2000, dtype=bool)
for bits, row in zip(X, range(2000), strict=True):
    size = rng.integers(6, 41)
    kinds = rng.choice(8, size, p=[0.3, 0.18, 0.1, 0.04, 0.1, 0.08, 0.1, 0.1])
    bonds = [set() for _ in range(size)]
    for node in range(1, size):
        other = rng.integers(max(0, node - 3), node)
        bonds[node].add(other)
        bonds[other].add(node)
    paths = [(node,) for node in range(size)]
    for path in paths:  # which grows on the way
        bits[crc32(bytes(kinds[list(path)])) % 1024] = 1
        ends = kinds[path[0]], kinds[path[-1]]
        y[row] |= len(path) > 2 and ends == (2, 1)
        if len(path) < 4:
            paths += [(*path, node) for node in bonds[path[-1]] - set(path)]
    y[row] = (y[row] and 3 not in kinds) ^ (rng.random() < 0.05)
X, X_new, y, y_new = train_test_split(X, y, train_size=250, random_state=0)

# %%


class TanimotoSVC(ExactSVC):
    def __init__(self, C=1.0, power=1.0):
        super().__init__(C=C)
        self.power = power

    def fit(self, X, y):
        self.kernel = self.tanimoto
        return super().fit(X, y)

    def tanimoto(self, A, B):
        both = A @ B.T
        return (both / (A.sum(1)[:, None] + B.sum(1) - both)) ** self.power


settings = {"n_iter": 15, "scoring": "roc_auc", "random_state": 0}
C = {"C": loguniform(2**-5, 2**10)}
own, rbf = C | {"power": (0.3, 5.0)}, C | {"gamma": loguniform(2**-15, 1)}
models = {
    "SVC, defaults": SVC(),
    "SVC, random search": RandomizedSearchCV(SVC(), rbf, **settings),
    "Tanimoto, untuned": TanimotoSVC(),
    "Tanimoto, SpotSearchCV": SpotSearchCV(TanimotoSVC(), own, **settings),
    "random forest": RandomForestClassifier(300, random_state=0),
    "TunedSVC": TunedSVC(scoring="roc_auc", random_state=0),
}
rows = {}
for name, model in models.items():
    start = perf_counter()
    model.fit(X, y)
    rows[name] = {"seconds": perf_counter() - start}
    rows[name]["area"] = get_scorer("roc_auc")(model, X_new, y_new)
print((table := pd.DataFrame(rows).T).round(3))

# %%
# Area under the ROC curve on 1,750 new molecules.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
area = table["area"]
ax.bar_label(ax.barh(area.index, area), fmt="%.3f", padding=3)
ax.set(xlabel="area under the ROC curve, new molecules", xlim=(0.5, 1))
plt.show()

# %%
# The Tanimoto kernel gains less than 0.02 on an SVC's defaults; ``TunedSVC``
# gains more than 0.02 on it, and at most 0.02 on a forest.

assert area["Tanimoto, SpotSearchCV"] < area["SVC, defaults"] + 0.02
assert area["TunedSVC"] > area["Tanimoto, SpotSearchCV"] + 0.02
assert area["TunedSVC"] < area["random forest"] + 0.02
