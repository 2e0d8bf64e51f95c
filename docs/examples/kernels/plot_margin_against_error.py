"""
Margin against training error
=============================

:class:`~spotsvm.MarginErrorFront` leaves C out: it gives all compromises between a wide margin and few training errors at once,
and any of them predicts.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from spotsvm import MarginErrorFront

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
front = MarginErrorFront(random_state=0).fit(X[:200], y[:200])

# %%
# Any point of the front is a classifier.

for index in (0, front.selected_, -1):
    point, machine = front.front_.iloc[index], front.classifier_at(index)
    print(
        f"margin {point['margin']:.3g}, {point['n_support']} support vectors: {machine.score(X[200:], y[200:]):.3f} on new rows"
    )

# %%
front.plot()
plt.show()
