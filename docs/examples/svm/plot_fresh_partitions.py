"""
Confirm the best on fresh partitions
====================================

The best of many candidates on the same five folds is partly the luckiest one there. ``confirm`` scores the contenders on further
random partitions of the rows, and chooses by the mean over all; as many partitions again score the one that is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

X, y = make_classification(150, 12, n_informative=4, flip_y=0.15, random_state=3)
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
search = SpotSearchCV(SVC(), space, n_iter=15, cv=5, confirm=5, random_state=0).fit(X, y)

# %%
# The contenders' scores on each further partition are in ``cv_results_``.

results = search.cv_results_
names = [f"partition{k}_score" for k in range(1, 6)]
fresh = np.column_stack([results[name] for name in names])
contenders = np.flatnonzero(np.isfinite(fresh).all(axis=1))
contenders = contenders[np.argsort(results["mean_test_score"][contenders])]
print(
    f"score of the chosen one on the folds of the search {search.best_score_:.3f}, on fresh partitions {search.fresh_score_:.3f}"
)

# %%
# A contender's score changes from partition to partition by as much as contenders differ. The best on the folds of the search
# are less good on further ones: they were found for being good on those folds.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for row, k in enumerate(contenders):
    ax.plot(fresh[k], [row] * 5, "o", ms=4, color="0.7", label="further partitions" if row == 0 else None)
    ax.plot(fresh[k].mean(), row, "|", ms=16, mew=2, color="black", label="their mean" if row == 0 else None)
    ax.plot(results["mean_test_score"][k], row, "D", color="tab:orange", label="folds of the search" if row == 0 else None)
    if k == search.best_index_:
        ax.axhspan(row - 0.4, row + 0.4, color="tab:blue", alpha=0.15, label="chosen")
ax.set_yticks(
    range(len(contenders)), [f"C={results['param_C'][k]:.2g}, gamma={results['param_gamma'][k]:.2g}" for k in contenders]
)
ax.set(xlabel="accuracy", title="The contenders of one search")
figure.legend(loc="outside lower center", ncols=4, fontsize=8)
plt.show()
