"""
What mattered: pictures of a study
==================================

The Kriging model of a study's trials tells which parameters matter, and how. The report shows the same pictures on one page:
``study.report("report.html")``.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import Study

X, y = load_diabetes(return_X_y=True)
y = (y - y.mean()) / y.std()
space = {"C": loguniform(2**-5, 2**7), "gamma": loguniform(2**-15, 2**3), "epsilon": loguniform(2**-8, 1)}


def error(params):
    pipeline = make_pipeline(StandardScaler(), SVR(**params, max_iter=100_000))
    return np.sqrt(-cross_val_score(pipeline, X, y, scoring="neg_mean_squared_error").mean())


study = Study(space, seed=0).run(error, n_trials=40)

# %%
# The share of the variance that each parameter explains, alone and together with others. epsilon hardly matters here.

study.plot_importance()
plt.show()

# %%
# The model along each parameter, the others as recommended, with the trials.

study.plot_slices()
plt.show()

# %%
# The best value so far, beside what random search would have reached.

study.plot_convergence()
plt.show()
