"""
Two cheaper estimates of luck
=============================

Nested resampling costs as many searches as there are outer folds. Two other methods need one search or no further fit; they
see the luck that lies in the partition of the rows, and not the luck that lies in the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching

X, y = make_classification(4000, 8, n_informative=3, flip_y=0.2, random_state=1)
X, y, X_new, y_new = X[:80], y[:80], X[80:], y[80:]
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
search = SpotSearchCV(SVC(), space, n_iter=25, random_state=0).fit(X, y)

found = {method: oversearching(search, X, y, method=method) for method in ("nested", "repeats", "folds")}
truth = search.best_score_ - search.score(X_new, y_new)

# %%
# The truth is known here, from 3920 further rows.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for row, result in enumerate(found.values()):
    low, high = result.interval
    if np.isfinite(low):
        ax.plot([low, high], [row, row], color="tab:blue", lw=2)
    ax.plot(result.optimism, row, "o", color="tab:blue")
ax.axvline(truth, color="tab:red", ls="--", label="tuned score less score on 3920 new rows")
ax.set_yticks(range(3), list(found))
ax.set_ylim(2.5, -1.2)
ax.set(xlabel="optimism of the tuned accuracy, with 95 % intervals")
ax.legend(fontsize=8, loc="upper left")
plt.show()
