"""
Texts
=====

A pipeline may begin with raw texts. Here sentences of scikit-learn's own documentation are told apart by the part of the library
they come from, and how words are counted is tuned with the machine.
"""

import inspect
import re

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn import cluster, ensemble, linear_model, preprocessing
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from spotsvm import SpotSearchCV


def sentences(module):
    text = " ".join(inspect.getdoc(getattr(module, name)) or "" for name in sorted(module.__all__))
    found = re.split(r"(?<=\.)\s+", re.sub(r"\s+", " ", text))
    return sorted({sentence for sentence in found if 60 < len(sentence) < 300})


modules = {"linear models": linear_model, "ensembles": ensemble, "clustering": cluster, "preprocessing": preprocessing}
texts = {name: sentences(module)[:150] for name, module in modules.items()}
X = [sentence for found in texts.values() for sentence in found]
y = [name for name, found in texts.items() for _ in found]
X, X_new, y, y_new = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

# %%
# Parameters of any kind: pairs in a list, a number of rows, a choice.

pipeline = make_pipeline(TfidfVectorizer(), LinearSVC(max_iter=50_000))
space = {
    "tfidfvectorizer__ngram_range": [(1, 1), (1, 2)],
    "tfidfvectorizer__min_df": [1, 2, 3],
    "tfidfvectorizer__sublinear_tf": [False, True],
    "tfidfvectorizer__stop_words": [None, "english"],
    "linearsvc__C": loguniform(2**-5, 2**5),
}
search = SpotSearchCV(pipeline, space, n_iter=25, cv=5, random_state=0).fit(X, y)
print({name.split("__")[1]: value for name, value in search.best_params_.items()})

# %%
ax = ConfusionMatrixDisplay.from_estimator(search, X_new, y_new, cmap="Blues", colorbar=False, xticks_rotation=20).ax_
ax.set_title(f"{len(X_new)} new sentences, accuracy {search.score(X_new, y_new):.2f}")
ax.figure.set_layout_engine("constrained")
plt.show()
