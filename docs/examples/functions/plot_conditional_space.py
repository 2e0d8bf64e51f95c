"""
Parameters that depend on others
================================

A list of dictionaries is a space in which each kernel has parameters of its
own. One search goes over all of them, and spends its trials on the kernels
that are worth it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, randint
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

C = loguniform(2**-5, 2**7)
gamma = loguniform(2**-7, 2**1)
space = [
    {"kernel": ["linear"], "C": C},
    {"kernel": ["rbf"], "C": C, "gamma": gamma},
    {"kernel": ["poly"], "C": C, "degree": randint(2, 6), "gamma": gamma},
]


def make_rows(seed):
    """Simulate a class that depends on a product of three columns of six."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(2200, 6))
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.03 * rng.normal(size=2200) > 0
    return X[:200], X[200:], y[:200], y[200:]


# %%
# Three draws of 200 rows, each model tested on 2000 other rows.

scores, searches = [], []
for seed in range(3):
    X, X_new, y, y_new = make_rows(seed)
    options = {"n_iter": 40, "random_state": seed}
    models = {
        "defaults": SVC(),
        "random search": RandomizedSearchCV(SVC(), space, **options),
        "SpotSearchCV": SpotSearchCV(SVC(), space, sweep=None, **options),
    }
    scores.append([m.fit(X, y).score(X_new, y_new) for m in models.values()])
    searches.append(models["SpotSearchCV"])
means = np.mean(scores, axis=0)
for name, mean in zip(models, means, strict=True):
    print(f"{name}: accuracy {mean:.3f} on new rows")
print([search.best_params_["kernel"] for search in searches])

# %%
# The candidates of the last draw, in their order. Each kernel is tried; once
# the polynomial kernel is seen to be better, it gets most of the trials.

frame = searches[-1].study_.frame()
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for kernel in ("linear", "rbf", "poly"):
    rows = frame[frame["param_kernel"] == kernel]
    label = f"{kernel}: {len(rows)} candidates"
    ax.plot(rows["number"], rows["value"], "o", ms=5, label=label)
best = frame["value"].cummax()
ax.step(frame["number"], best, "k-", lw=1, where="post", label="best so far")
ax.set(xlabel="number of the candidate", ylabel="cross-validated accuracy")
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# The search finds the kernel that fits, gives it more than half of the
# candidates, and ends above random search with as many candidates, which is
# more than five points above the defaults.

assert all(s.best_params_["kernel"] == "poly" for s in searches)
assert (frame["param_kernel"] == "poly").mean() > 0.5
assert means[2] > means[1] > means[0] + 0.05
