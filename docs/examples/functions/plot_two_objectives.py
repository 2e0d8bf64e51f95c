"""
Two objectives
==============

With several objectives a :class:`~spotsvm.Study` looks for the front: the trials that no other one surpasses in everything.
Here the error of a machine stands against the number of its support vectors, and so the time of its predictions.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import Study

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)


def error_and_size(params):
    scores = cross_validate(SVC(**params), X, y, cv=5, return_estimator=True)
    size = sum(machine.n_support_.sum() for machine in scores["estimator"]) / 5
    return {"values": {"error": 1 - scores["test_score"].mean(), "support vectors": size}}


space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
directions = {"error": "minimize", "support vectors": "minimize"}
study = Study(space, search="parego", direction=directions, seed=0).run(error_and_size, n_trials=50)

# %%
# Each point of the front is a choice that one may have reasons for.

for trial in sorted(study.pareto(), key=lambda trial: trial.values):
    error, vectors = trial.values
    print(f"error {error:.3f}, {vectors:.1f} vectors: C={trial.params['C']:.3g}, gamma={trial.params['gamma']:.3g}")

# %%
ax = study.plot_pareto()
ax.set_title("The front after 50 trials")
plt.show()
