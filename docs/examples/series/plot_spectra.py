"""
Spectra: components, their products, and the important ones
===========================================================

A spectrum has many columns that say nearly the same. :class:`~spotsvm.PrincipalMonomials` makes few components and their
products, :class:`~spotsvm.ImportanceFraction` keeps the important ones, and the share to keep is tuned with the machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ImportanceFraction, PrincipalMonomials, SpotSearchCV

# %%
# Simulated mixtures of three substances, with much noise and a baseline that drifts: a mixture is good if the product of two
# shares is large.

rng = np.random.default_rng(0)
wavelength = np.linspace(800, 1000, 120)
bands = np.exp(-(((wavelength - np.array([[850.0], [895.0], [950.0]])) / [[30.0], [40.0], [25.0]]) ** 2))
shares = rng.dirichlet([1.5, 1.5, 1.5], size=900)
baseline = 0.3 * rng.normal(size=(900, 1)) + 0.3 * rng.normal(size=(900, 1)) * (wavelength - 900) / 100
X = shares @ bands + baseline + 0.2 * rng.normal(size=(900, 120))
product = shares[:, 0] * shares[:, 2]
y = (product > np.median(product)).astype(int)
X, X_new, y, y_new = train_test_split(X, y, train_size=100, random_state=0)

# %%
# Beside it is an SVC on all wavelengths, tuned with as many suggestions.

settings = {"n_iter": 15, "random_state": 0}
named = {"svc__C": loguniform(2**-2, 2**12), "svc__gamma": loguniform(2**-12, 1)}
plain = SpotSearchCV(make_pipeline(StandardScaler(), SVC()), named, **settings).fit(X, y)
pipeline = make_pipeline(PrincipalMonomials(4, n_kept=4), ImportanceFraction(random_state=0), StandardScaler(), SVC())
search = SpotSearchCV(pipeline, named | {"importancefraction__fraction": uniform(0.2, 0.8)}, **settings).fit(X, y)
print(f"all wavelengths: {plain.score(X_new, y_new):.3f}; the pipeline: {search.score(X_new, y_new):.3f} on 800 new spectra")

# %%
# The features by their importance. Few components leave out most of the noise: on three such draws the pipeline has an accuracy
# of 0.848 on average, all wavelengths 0.785. With little noise and drift the wavelengths themselves do as well.

monomials, forest = search.best_estimator_[0], search.best_estimator_[1]
names = monomials.get_feature_names_out()
order = np.argsort(-forest.importances_)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for label, colour in [(0, "tab:orange"), (1, "tab:blue")]:
    left.plot(wavelength, X[y == label][:12].T, color=colour, lw=0.8, alpha=0.7)
    left.plot([], [], color=colour, label=["poor", "good"][label])
left.set(xlabel="wavelength", ylabel="absorbance", title="A dozen spectra of each class")
left.legend()
kept = forest.get_support()[order]
right.barh(names[order], forest.importances_[order], color=np.where(kept, "tab:blue", "0.8"))
right.invert_yaxis()
right.set(xlabel="importance in a random forest", title=f"Features: {forest.get_support().sum()} of {len(names)} are kept (blue)")
plt.show()
