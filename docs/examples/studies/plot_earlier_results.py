"""
Earlier results count
=====================

Trials that another tool has made are taken from a table by ``Study.from_frame``, here those of a ``RandomizedSearchCV``. The
search knows them, and goes on from there.
"""

import matplotlib.pyplot as plt
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.model_selection import RandomizedSearchCV, cross_val_score
from sklearn.svm import SVC

from spotsvm import Study

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
earlier = RandomizedSearchCV(SVC(), space, n_iter=8, cv=5, random_state=0).fit(X, y)

# %%
# A column for each parameter and one for the value. Optuna's ``study.trials_dataframe()`` needs other names of columns only.

table = pd.DataFrame(earlier.cv_results_)[["param_C", "param_gamma", "mean_test_score"]]
table.columns = ["C", "gamma", "value"]
study = Study.from_frame(table, space, seed=0, direction="maximize", noise=False)
study.run(lambda p: cross_val_score(SVC(**p), X, y, cv=5).mean(), more=15)
print(f"best of 8 random trials: {earlier.best_score_:.3f}; after 15 more: {study.best_value:.3f}")

# %%
# Where the earlier trials were good, the study looks closer, and it looks where none were.

frame = study.frame()
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
shown = {"vmin": 0.9, "vmax": 0.985, "edgecolor": "0.5"}
for rows, label, marker in [(frame[:8], "RandomizedSearchCV", "s"), (frame[8:], "the study's own trials", "o")]:
    points = ax.scatter(rows["param_C"], rows["param_gamma"], c=rows["value"], marker=marker, label=label, **shown)
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="gamma")
ax.legend()
figure.colorbar(points, label="cross-validated accuracy", extend="min")
plt.show()
