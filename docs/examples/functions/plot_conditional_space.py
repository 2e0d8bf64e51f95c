"""
Parameters that depend on others
================================

A list of dictionaries is a space in which each kernel has parameters of its own. One search goes over all of them, and spends
its trials where they are worth it.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform, randint
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
C = loguniform(2**-5, 2**10)
space = [
    {"kernel": ["linear"], "C": C},
    {"kernel": ["poly"], "C": C, "degree": randint(2, 6), "gamma": loguniform(2**-10, 2**2)},
    {"kernel": ["rbf"], "C": C, "gamma": loguniform(2**-10, 2**2)},
]
search = SpotSearchCV(SVC(), space, n_iter=40, cv=5, random_state=0).fit(X, y)
print(search.best_params_)

# %%
# Each kernel is tried, and the better ones more often.

frame = search.study_.frame()
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for kernel, colour in [("linear", "tab:orange"), ("poly", "tab:blue"), ("rbf", "tab:green")]:
    rows = frame[frame["param_kernel"] == kernel]
    ax.plot(rows["number"], rows["value"], "o", ms=5, color=colour, label=f"{kernel}: {len(rows)} candidates")
ax.plot(frame["number"], frame["value"].cummax(), color="black", lw=1, drawstyle="steps-post", label="best so far")
ax.set(xlabel="number of the candidate", ylabel="cross-validated accuracy", ylim=(0.8, 1.0))
ax.legend()
plt.show()
