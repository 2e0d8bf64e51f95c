"""
A first search, beside RandomizedSearchCV
=========================================

:class:`~spotsvm.SpotSearchCV` takes the arguments of scikit-learn's ``RandomizedSearchCV``. It scores a whole path of values of
C for each gamma, since the values of C share one kernel matrix, and it goes where a model expects better scores.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

X, y = load_breast_cancer(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
pipeline = make_pipeline(StandardScaler(), SVC())
space = {"svc__C": loguniform(2**-5, 2**15), "svc__gamma": loguniform(2**-15, 2**3)}

# %%
# The two calls differ in a name. Both have 25 suggestions.

random = RandomizedSearchCV(pipeline, space, n_iter=25, cv=5, random_state=0).fit(X, y)
spot = SpotSearchCV(pipeline, space, n_iter=25, cv=5, random_state=0).fit(X, y)

# %%
# Each point is a candidate. Random search has spent most of its trials where the colour is dark. On these easy data both end with
# machines that are as good on new rows; ``SpotSearchCV`` knows where the plateau of good settings ends. What it chooses need not
# have the best score on the five folds: the best few were scored on further partitions of the rows, which chose among them.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, search in zip(panels, [random, spot], strict=True):
    results = search.cv_results_
    points = ax.scatter(
        results["param_svc__C"], results["param_svc__gamma"], c=results["mean_test_score"], s=16, vmin=0.9, vmax=0.985
    )
    best = search.best_params_
    ax.plot(best["svc__C"], best["svc__gamma"], "*", ms=18, mfc="none", mec="tab:red", mew=1.5, label="chosen")
    ax.set(xscale="log", yscale="log", xlabel="C")
    ax.set_title(f"{type(search).__name__}\n{len(results['params'])} candidates; {search.score(X_new, y_new):.3f} on new rows")
    ax.legend(loc="lower right")
panels[0].set_ylabel("gamma")
figure.colorbar(points, ax=panels, label="cross-validated accuracy", extend="min")
plt.show()
