"""
Spectra: components, their products, and the important ones
===========================================================

A spectrum has many columns that say nearly the same. :class:`~spotsvm.PrincipalMonomials` makes few components and their
products, :class:`~spotsvm.ImportanceFraction` keeps the important ones, and the share to keep is tuned with the machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ImportanceFraction, PrincipalMonomials, SpotSearchCV

# %%
# Simulated mixtures of three substances, with a drifting baseline: a mixture is good if the product of two shares is large.

rng = np.random.default_rng(0)
wavelength = np.linspace(800, 1000, 120)
bands = np.exp(-(((wavelength - np.array([[850.0], [895.0], [950.0]])) / [[30.0], [40.0], [25.0]]) ** 2))
shares = rng.dirichlet([1.5, 1.5, 1.5], size=900)
baseline = 0.1 * rng.normal(size=(900, 1)) + 0.1 * rng.normal(size=(900, 1)) * (wavelength - 900) / 100
X = shares @ bands + baseline + 0.01 * rng.normal(size=(900, 120))
product = shares[:, 0] * shares[:, 2]
y = (product > np.median(product)).astype(int)
X, X_new, y, y_new = train_test_split(X, y, train_size=150, random_state=0)

# %%
machine = {"C": loguniform(2**-2, 2**12), "gamma": loguniform(2**-12, 1)}
named = {f"svc__{name}": range_ for name, range_ in machine.items()}
settings = {"n_iter": 25, "random_state": 0}
forest = ImportanceFraction(random_state=0)
searches = {
    "all wavelengths": SpotSearchCV(make_pipeline(StandardScaler(), SVC()), named, **settings),
    "8 components": SpotSearchCV(make_pipeline(PCA(8), StandardScaler(), SVC()), named, **settings),
    "components, products,\nshare of importance": SpotSearchCV(
        make_pipeline(PrincipalMonomials(8, n_kept=8), forest, StandardScaler(), SVC()),
        named | {"importancefraction__fraction": uniform(0.2, 0.8)},
        **settings,
    ),
}
scores = {name: search.fit(X, y).score(X_new, y_new) for name, search in searches.items()}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for label, colour in [(0, "tab:orange"), (1, "tab:blue")]:
    left.plot(wavelength, X[y == label][:12].T, color=colour, lw=0.8, alpha=0.7)
    left.plot([], [], color=colour, label=["poor", "good"][label])
left.set(xlabel="wavelength", ylabel="absorbance", title="A dozen spectra of each class")
left.legend()
bars = right.barh(list(scores), list(scores.values()), color="0.6")
right.bar_label(bars, fmt=" %.3f")
right.invert_yaxis()
right.set(xlabel="accuracy on 750 new spectra", xlim=(0.5, 1.05))
plt.show()
