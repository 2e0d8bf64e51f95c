"""
How much of a tuned score is luck
=================================

:func:`~spotsvm.oversearching` runs the whole search again without each fifth
of the rows, and scores its winners there: the difference is the optimism of
the tuned score, with an interval.
"""

from textwrap import fill

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching

X, y = make_classification(
    4000, 8, n_informative=3, flip_y=0.2, random_state=1
)
X, X_new, y, y_new = X[:80], X[80:], y[:80], y[80:]
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}

# %%
# A plain search for the best of 60 candidates by accuracy on 80 rows. Here the
# truth is known as well, from 3920 new rows.

search = SpotSearchCV(SVC(), space, n_iter=60, sweep=None, random_state=0)
search.fit(X, y)
result = oversearching(search, X, y, outer=5)
print(fill(result.summary(), 79))
truth = search.score(X_new, y_new)
default = SVC().fit(X, y).score(X_new, y_new)
print(f"true: {truth:.3f}; of the default parameters: {default:.3f}")

# %%
# The scores of the five searches along their trials, on their own folds and on
# the rows that were left out of them. The first rise with more trials, and the
# second do not. The band is the tuned score less the interval of the optimism:
# where the score on new rows is expected.

result.plot()
plt.show()

# %%
# The tuned score is more than five points above the truth. The nested estimate
# comes closer to it, and its interval contains it; on 80 rows it is wide.

expected = result.expected_score
low, high = expected.interval
assert search.best_score_ > truth + 0.05
assert abs(expected.value - truth) < search.best_score_ - truth
assert low < truth < high
assert high - low > 0.2
