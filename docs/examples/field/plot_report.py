"""
The report, picture by picture
==============================

``study.report("report.html")`` writes one page about a search. Here are its
pictures: was the search worth it, what mattered, and where is the best?
"""

import tempfile
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import Study

X, y = load_diabetes(return_X_y=True)
y = (y - y.mean()) / y.std()
X, X_new, y, y_new = train_test_split(X, y, train_size=250, random_state=0)
space = {"C": loguniform(2**-5, 2**7), "gamma": loguniform(2**-12, 2**2)}
space["epsilon"] = loguniform(2**-8, 1)


def pipeline(params):
    return make_pipeline(StandardScaler(), SVR(**params))


def error(params):
    return 1 - cross_val_score(pipeline(params), X, y).mean()


# %%
# Thirty evaluations by the Kriging search, and as many by random search.
# The error is 1 - R2: 1 for the mean of the target.

studies, rows = {}, {}
for name in ("kriging", "random"):
    start = perf_counter()
    study = Study(space, name, noise=False, seed=0).run(error, n_trials=30)
    seconds = perf_counter() - start
    chosen = pipeline(study.best_params).fit(X, y)
    rows[name] = {"on the folds": study.best_value, "seconds": seconds}
    rows[name]["on new rows"] = 1 - chosen.score(X_new, y_new)
    studies[name] = study
forest = RandomForestRegressor(random_state=0)
models = {"defaults": pipeline({}), "forest": forest}
for name, model in models.items():
    rows[name] = {"on new rows": 1 - model.fit(X, y).score(X_new, y_new)}
print((table := pd.DataFrame(rows).T).round(3))
kriging, random = studies.values()
with tempfile.TemporaryDirectory() as folder:
    page = kriging.report(Path(folder) / "report.html", baseline=random)
    print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB, one file")

# %%
# **Was it worth it?** The blue line is the best error so far, the green one
# that of the random search, and the band is what random search is expected
# to reach. A blue line within the band has gained nothing.

kriging.plot_convergence(baseline=random)
plt.show()

# %%
# **What mattered?** The share of the error's variance that a parameter
# explains alone, and together with others: epsilon need not be searched.

kriging.plot_importance()
plt.show()

# %%
# **Where is the best?** The predicted error over pairs of parameters. A ring
# at the edge asks for a wider range, unless the map is flat there as here.

kriging.plot_slices()
plt.show()

# %%
# **Which trials were good?** Each line is a trial, the best ones are thick.
# Where they meet, a parameter is determined; here it is C with gamma.

kriging.plot_parallel()
plt.show()

# %%
# Tuning gained something on the defaults and the forest, the search nothing
# on random search, and epsilon could have been left out.

new, folds = table["on new rows"], table["on the folds"]
assert new["kriging"] < 0.95 * min(new["defaults"], new["forest"])
assert abs(folds["kriging"] - folds["random"]) < 0.02
share = kriging.importance().set_index("parameter")["with_others"]
assert share["epsilon"] < 0.1 < min(share["C"], share["gamma"])
