"""
How much of a tuned score is luck
=================================

:func:`~spotsvm.oversearching` runs the whole search again without each fifth of the rows, and scores its winners there: the
difference is the optimism of the tuned score, with an interval.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching

X, y = make_classification(80, 8, n_informative=3, flip_y=0.2, random_state=1)
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}

# %%
# A plain search for the best of 60 candidates by accuracy.

search = SpotSearchCV(SVC(), space, n_iter=60, sweep=None, random_state=0)
found = oversearching(search, X, y, outer=5)
print(found.summary())

# %%
# More trials raise the tuned score, and not the score on rows that the search has not used.

found.plot()
plt.show()
