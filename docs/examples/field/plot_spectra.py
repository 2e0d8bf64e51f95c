"""
Near-infrared spectra: how much protein?
========================================

The derivative to take, the number of components and the SVR are tuned
together, beside partial least squares (PLS), the usual model of the field.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import savgol_filter
from scipy.stats import loguniform, randint
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

from spotsvm import SpotSearchCV, TunedSVR

# %%
# The recipe: mixtures of protein, fat, water and starch by the law of Beer
# and Lambert; stray light, which bends it; scatter, which stretches each
# spectrum; and a baseline that drifts. 120 rows are for the fit, 880 new.

rng = np.random.default_rng(0)
nm = np.linspace(1100, 2400, 130)
bands = [[1510, 2050, 2180], [1210, 1725, 2310], [1450, 1940], [1580, 2100]]
pure = [sum(np.exp(-(((nm - c) / 85) ** 2)) for c in band) for band in bands]
shares = rng.dirichlet([2, 1.5, 5, 4], size=1000)
absorbance = -np.log10(10 ** -(1.5 * shares @ pure) + 0.05)  # stray light
scatter = np.exp(0.25 * rng.normal(size=(1000, 1)))
drift = rng.normal(size=(1000, 3)) @ np.vander(nm / 1750, 3).T
X = absorbance * scatter + 0.1 * drift + 0.002 * rng.normal(size=(1000, 130))
y = 100 * shares[:, 0]
X, X_new, y, y_new = X[:120], X[120:], y[:120], y[120:]

# %%
# PLS gets the derivative as well. Random search has 75 trials, which take
# about the time of 25 sweeps of C.


def derivative(X, window=11, order=0):
    X = savgol_filter(X, window, polyorder=2, deriv=order)
    return (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)


kinds = [{"window": w, "order": o} for w in (7, 11, 17) for o in (0, 1, 2)]
first = {"functiontransformer__kw_args": kinds}
svr = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
transform = FunctionTransformer(derivative)
pipeline = make_pipeline(transform, StandardScaler(), PCA(10), svr)
space = first | {
    "pca__n_components": randint(3, 20),
    "transformedtargetregressor__regressor__C": loguniform(2**-2, 2**12),
    "transformedtargetregressor__regressor__gamma": loguniform(2**-15, 1),
}
pls = make_pipeline(transform, PLSRegression())
grid = first | {"plsregression__n_components": range(2, 16)}
random = RandomizedSearchCV(pipeline, space, n_iter=75, random_state=0)
spot = SpotSearchCV(pipeline, space, n_iter=25, random_state=0)
models = {
    "SVR, defaults": pipeline,
    "PLS, grid": GridSearchCV(pls, grid),
    "TunedSVR, no derivative": TunedSVR(random_state=0),
    "SVR, random search": random,
    "SVR, SpotSearchCV": spot,
}
rows = {}
for name, model in models.items():
    start = perf_counter()
    model.fit(X, y)
    rows[name] = {"seconds": perf_counter() - start}
    rows[name]["error"] = root_mean_squared_error(y_new, model.predict(X_new))
print((table := pd.DataFrame(rows).T).round(2))

# %%
# Left: spectra, darker with more protein. Right: the errors on 880 new ones.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
for k, row in enumerate(np.argsort(y)[::6]):
    left.plot(nm, X[row], color=plt.cm.viridis_r(0.2 + 0.025 * k), lw=0.8)
left.set(xlabel="wavelength, nm", ylabel="absorbance")
error = table["error"]
right.bar_label(right.barh(error.index, error), fmt="%.2f", padding=3)
right.set(xlabel="error on new spectra, % protein", xlim=(0, 4))
figure.tight_layout()
plt.show()

# %%
# SVR tuned with its preprocessing beats PLS; random search does as well.

assert error.iloc[-1] < 0.75 * error["PLS, grid"]
assert error.iloc[-1] > 0.75 * error["SVR, random search"]
