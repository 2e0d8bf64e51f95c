"""
The sweep over C
================

For one kernel matrix the solutions along C are close to each other: a sweep of eleven values takes about the time of one fit by
scikit-learn. So a candidate of :class:`~spotsvm.SpotSearchCV` is a kernel, and C is read off its sweep.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

X, y = load_wine(return_X_y=True)
space = {"svc__C": loguniform(2**-5, 2**15), "svc__gamma": loguniform(2**-15, 2**3)}
search = SpotSearchCV(make_pipeline(StandardScaler(), SVC()), space, n_iter=10, random_state=0).fit(X, y)

# %%
# ``study_.frame()`` has a row for each value in each sweep; ``sweep`` says in whose sweep a row is.

frame = search.study_.frame()
print(frame[["sweep", "param_svc__C", "param_svc__gamma", "value"]].tail(3).to_string(index=False))

# %%
# With a narrow kernel (a large gamma) no C helps. With a wide one a larger C makes up for it.

gammas = np.log2(frame["param_svc__gamma"])
colours = plt.cm.viridis((gammas - gammas.min()) / np.ptp(gammas))
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for _, sweep in frame.groupby("sweep"):
    sweep = sweep.sort_values("param_svc__C")
    ax.plot(sweep["param_svc__C"], sweep["value"], ".-", color=colours[sweep.index[0]], lw=1)
scale = plt.cm.ScalarMappable(plt.Normalize(gammas.min(), gammas.max()), "viridis")
figure.colorbar(scale, ax=ax, label="log2(gamma) of the sweep")
ax.axvline(search.best_params_["svc__C"], color="tab:red", ls=":", label="chosen C")
ax.set(xscale="log", xlabel="C", ylabel="cross-validated accuracy", title="Ten suggestions, each a sweep of values of C")
ax.legend()
plt.show()
