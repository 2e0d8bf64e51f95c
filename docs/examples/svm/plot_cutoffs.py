"""
Unequal classes: weights and cutoffs
====================================

With few rows of a class, the most frequent answer is rarely that class. :class:`~spotsvm.CutoffClassifier` makes the share of
votes that a class needs a parameter, to be tuned with the machine for the mean accuracy of the classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from spotsvm import CutoffClassifier, SpotSearchCV, mean_class_accuracy, mean_class_accuracy_scorer

X, y = make_classification(
    3000, 8, n_informative=5, n_classes=3, weights=[0.86, 0.09, 0.05], class_sep=0.9, flip_y=0.02, random_state=1
)
X, X_new, y, y_new = train_test_split(X, y, train_size=400, stratify=y, random_state=0)

# %%
# The same C and gamma are searched in all three; the third also searches the cutoffs of two classes, and the last one follows.

C_and_gamma = {"C": loguniform(2**-2, 2**12), "gamma": loguniform(2**-12, 1)}
inner = {f"estimator__{name}": range_ for name, range_ in C_and_gamma.items()}
cutoffs = {"cutoff__0": loguniform(0.2, 0.8), "cutoff__1": loguniform(0.02, 0.2)}
settings = {"n_iter": 25, "scoring": mean_class_accuracy_scorer, "random_state": 0}
machines = {
    "SVC": SpotSearchCV(SVC(), C_and_gamma, **settings),
    "balanced class weights": SpotSearchCV(SVC(class_weight="balanced"), C_and_gamma, **settings),
    "and tuned cutoffs": SpotSearchCV(CutoffClassifier(SVC(), class_weight="balanced"), inner | cutoffs, **settings),
}
found = {name: search.fit(X, y).predict(X_new) for name, search in machines.items()}

# %%
# What is gained for the rare classes is paid by the frequent one.

figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
for k, (name, predicted) in enumerate(found.items()):
    shares = recall_score(y_new, predicted, average=None)
    bars = ax.bar(
        np.arange(3) + 0.27 * (k - 1), shares, width=0.25, label=f"{name}: mean {mean_class_accuracy(y_new, predicted):.3f}"
    )
    ax.bar_label(bars, fmt="%.2f", fontsize=8)
ax.set_xticks(range(3), [f"class {k}: {np.mean(y_new == k):.0%} of the rows" for k in range(3)])
ax.set(ylabel="share that is recognised", ylim=(0, 1.05), title="New rows")
ax.legend(loc="upper right", fontsize=8)
plt.show()
