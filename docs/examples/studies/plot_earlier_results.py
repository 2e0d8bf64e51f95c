"""
Earlier results count
=====================

Trials that another tool has made are taken from a table by
``Study.from_frame``, here those of a ``RandomizedSearchCV``. The search knows
them, and goes on from there.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.model_selection import RandomizedSearchCV, cross_val_score
from sklearn.svm import SVR

from spotsvm import Study

X, y = load_diabetes(return_X_y=True)
space = {
    "C": loguniform(2**-5, 2**10),
    "gamma": loguniform(2**-10, 2**8),
    "epsilon": loguniform(0.1, 100),
}


def score(params):
    return cross_val_score(SVR(**params), X, y, cv=5).mean()


def random_trials(n, seed):
    svr = SVR()
    search = RandomizedSearchCV(svr, space, n_iter=n, random_state=seed)
    table = pd.DataFrame(search.fit(X, y).cv_results_)
    columns = {f"param_{name}": name for name in space}
    columns["mean_test_score"] = "value"
    return table.rename(columns=columns)[[*columns.values()]]


# %%
# Eight random trials are there. Fifteen more come from random search, from a
# study that knows the eight, or from one that does not. Optuna's
# ``study.trials_dataframe()`` needs other names of columns only.

options = {"direction": "maximize", "noise": False}
best, studies = [], []
for seed in range(4):
    earlier = random_trials(8, seed)
    longer = random_trials(23, seed)  # begins with the same eight
    study = Study.from_frame(earlier, space, seed=seed, **options)
    studies.append(study.run(score, more=15))
    fresh = Study(space, seed=seed, **options).run(score, n_trials=15)
    best.append(
        [
            earlier["value"].max(),
            longer["value"].max(),
            study.best_value,
            max(fresh.best_value, earlier["value"].max()),
        ]
    )
means = np.mean(best, axis=0)
names = ["8 random", "23 random", "8, then the study", "8, then a new study"]
for name, mean in zip(names, means, strict=True):
    print(f"{name}: R2 {mean:.3f}")
default = score({})
print(f"defaults: R2 {default:.3f}")

# %%
# The trials of the last study. It evaluates points near good earlier trials,
# and points far from all of them.

frame = studies[-1].frame()
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
groups = {"RandomizedSearchCV": (frame[:8], "s")}
groups["the study's own trials"] = (frame[8:], "o")
for label, (rows, marker) in groups.items():
    points = ax.scatter(
        rows["param_C"],
        rows["param_gamma"],
        **{"c": rows["value"], "vmin": 0.3, "vmax": 0.5},
        **{"marker": marker, "ec": "0.5", "label": label},
    )
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="gamma")
figure.legend(loc="outside lower center", ncols=2)
figure.colorbar(points, label="cross-validated R2", extend="min")
plt.show()

# %%
# The eight earlier trials exceed the defaults by more than 0.2. A study gains
# more from 15 trials than random search does. Knowing the eight trials changes
# its result by less than 0.01.

eight, more_random, knows, new = means
assert eight > default + 0.2
assert knows > more_random > eight
assert abs(knows - new) < 0.01
