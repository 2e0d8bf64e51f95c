"""
A kernel for each group of columns
==================================

:class:`~spotsvm.MultiKernelSVC` has a kernel for each group of columns, with a weight and a scale. Where groups differ in
what they say, one kernel for all columns drowns in those that say nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.kernels import RbfModel, TunedConicModel, nested

groups = {"position": [0, 1], "phase": [2], "weather": list(range(3, 13))}


def make_rows(seed):
    """Simulate a class that depends on position and phase, each in its own way, and not on the weather."""
    rng = np.random.default_rng(seed)
    position, phase = rng.uniform(-2, 2, size=(2200, 2)), rng.uniform(0, 12, size=2200)
    y = (position**2).sum(axis=1) / 1.5 + 1.2 * np.sin(phase) > 1.7
    X = np.column_stack([position, phase, rng.normal(size=(2200, 10))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[:200], X[200:], y[:200], y[200:]


# %%
# ``nested`` searches C and gamma of one kernel first, and goes on from there with a weight and a gamma for each group.
# All have 50 suggestions.

models = [RbfModel(groups), TunedConicModel(groups)]
scores, weights = [], []
for seed in range(3):
    X, X_new, y, y_new = make_rows(seed)
    one = SpotSearchCV(SVC(), {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}, n_iter=50, random_state=seed)
    many = SpotSearchCV(
        models[-1].estimator(), models[-1].space(), n_iter=50, search=nested(models, (15, 35), "kriging"), random_state=seed
    )
    scores.append([search.fit(X, y).score(X_new, y_new) for search in (one, many)])
    weights.append(many.best_estimator_.weights_[0])
    print(f"seed {seed}: one kernel {scores[-1][0]:.3f}, a kernel for each group {scores[-1][1]:.3f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot([0, 1], np.transpose(scores), "o-", color="0.6")
left.plot([0, 1], np.mean(scores, axis=0), "D", color="tab:red", label="mean: {:.3f} and {:.3f}".format(*np.mean(scores, axis=0)))
left.set_xticks([0, 1], ["one kernel", "a kernel for each group"])
left.set(ylabel="accuracy on 2000 new rows", xlim=(-0.4, 1.4), title="Draws of 200 rows")
left.legend()
shares = np.array([w / w.sum() for w in weights])
right.bar(many.best_estimator_.kernel_names_, shares.mean(axis=0), color="tab:blue", alpha=0.5)
right.plot(np.tile(np.arange(3), (len(shares), 1)).T, shares.T, "o", color="0.4", ms=4)
right.set(ylabel="share of the weights", title="Weights that were found")
plt.show()
