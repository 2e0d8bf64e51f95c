"""
Any estimator
=============

:class:`~spotsvm.SpotSearchCV` takes every estimator and pipeline of scikit-learn. Here it tunes five parameters of gradient
boosting with 30 candidates.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform, randint
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

from spotsvm import SpotSearchCV

X, y = load_diabetes(return_X_y=True)
space = {
    "learning_rate": loguniform(0.01, 1.0),
    "max_iter": randint(10, 101),
    "max_leaf_nodes": randint(2, 32),
    "min_samples_leaf": randint(2, 60),
    "l2_regularization": loguniform(1e-3, 1e3),
}
estimator = HistGradientBoostingRegressor(random_state=0)
search = SpotSearchCV(estimator, space, n_iter=30, cv=5, scoring="neg_root_mean_squared_error", random_state=0).fit(X, y)
print({name: round(value, 3) for name, value in search.best_params_.items()}, round(search.best_score_, 2))

# %%
# Each line is a candidate, the best ones in colour. They have two leaves a tree, and the rest matters less.

search.study_.plot_parallel()
plt.show()
