"""
Earlier results count
=====================

Trials that another tool has made are taken from a table by ``Study.from_frame``, here those of a ``RandomizedSearchCV``. The
search knows them, and goes on from there.
"""

import matplotlib.pyplot as plt
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.model_selection import RandomizedSearchCV, cross_val_score
from sklearn.svm import SVR

from spotsvm import Study

X, y = load_diabetes(return_X_y=True)
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**8), "epsilon": loguniform(0.1, 100)}
earlier = RandomizedSearchCV(SVR(), space, n_iter=8, cv=5, random_state=0).fit(X, y)
longer = RandomizedSearchCV(SVR(), space, n_iter=8 + 15, cv=5, random_state=0).fit(X, y)  # begins with the same eight

# %%
# A column for each parameter and one for the value. Optuna's ``study.trials_dataframe()`` needs other names of columns only.

table = pd.DataFrame(earlier.cv_results_)[["param_C", "param_gamma", "param_epsilon", "mean_test_score"]]
table.columns = ["C", "gamma", "epsilon", "value"]
study = Study.from_frame(table, space, seed=0, direction="maximize", noise=False)
study.run(lambda p: cross_val_score(SVR(**p), X, y, cv=5).mean(), more=15)
print(f"R2, best of 8 random trials: {earlier.best_score_:.3f}")
print(f"after 15 more random ones: {longer.best_score_:.3f}; after 15 of the study: {study.best_value:.3f}")

# %%
# Where the earlier trials were good, the study looks closer, and it looks where none were. With five seeds in place of one, the
# best R2 is 0.484 after the eight trials, 0.488 after 15 more random ones and 0.491 after 15 of the study: a small gain, as it
# is wherever a few random trials come near the best.

frame = study.frame()
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
shown = {"vmin": 0.3, "vmax": 0.5, "edgecolor": "0.5"}
for rows, label, marker in [(frame[:8], "RandomizedSearchCV", "s"), (frame[8:], "the study's own trials", "o")]:
    points = ax.scatter(rows["param_C"], rows["param_gamma"], c=rows["value"], marker=marker, label=label, **shown)
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="gamma")
ax.legend()
figure.colorbar(points, label="cross-validated R2", extend="min")
plt.show()
