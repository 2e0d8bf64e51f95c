"""
Margin against training error
=============================

:class:`~spotsvm.MarginErrorFront` leaves C out: it gives all compromises
between a wide margin and few training errors at once, and any of them
predicts.
"""

import time

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import MarginErrorFront, SpotSearchCV

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
X, y, X_new, y_new = X[:200], y[:200], X[200:], y[200:]


def timed_fit(model):
    began = time.perf_counter()
    model.fit(X, y)
    return model, time.perf_counter() - began


# %%
# The front, the default C, and one chosen by cross-validation.

front, seconds = timed_fit(MarginErrorFront(random_state=0))
C = {"C": loguniform(2**-5, 2**10)}
search, seconds_cv = timed_fit(SpotSearchCV(SVC(), C, random_state=0))
accuracy = {"SVC, C=1": SVC().fit(X, y).score(X_new, y_new)}
accuracy["SVC, C by cross-validation"] = search.score(X_new, y_new)
print(f"front: {seconds:.1f} s; cross-validation: {seconds_cv:.1f} s")

# %%
# Any point of the front is a classifier. The first has the widest margin, the
# last one the fewest errors, and the knee lies between them.

points = {"widest margin": 0, "knee": front.selected_, "fewest errors": -1}
for name, index in points.items():
    point, classifier = front.front_.iloc[index], front.classifier_at(index)
    accuracy[name] = classifier.score(X_new, y_new)
    margin, size = point["margin"], point["n_support"]
    print(f"{name}: margin {margin:.3g}, {size:.0f} support vectors")
for name, score in accuracy.items():
    print(f"{name}: accuracy {score:.3f} on new rows")

# %%
# The evolved points lie between the exact solutions along C, on one curve.

front.plot()
plt.show()

# %%
# The knee is at least two points more accurate than both ends, and within two
# points of the default C and the tuned one. The front gains no accuracy: it
# shows what C trades.

assert accuracy["knee"] > accuracy["widest margin"] + 0.05
assert accuracy["knee"] > accuracy["fewest errors"] + 0.02
assert abs(accuracy["knee"] - accuracy["SVC, C=1"]) < 0.02
assert abs(accuracy["knee"] - accuracy["SVC, C by cross-validation"]) < 0.02
