"""The space of scikit-learn's user guide."""

from scipy.stats import expon
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.reports.repeat import code_snippet

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}
X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
FEW = PLAIN | {"n_iter": 4, "search": "random", "cv": 3, "random_state": 0}
GUIDE = {"C": expon(scale=100), "gamma": expon(scale=0.1), "kernel": ["rbf"], "class_weight": ["balanced", None]}


def test_the_space_of_scikit_learns_user_guide_is_searched():
    fitted = SpotSearchCV(SVC(), GUIDE, n_iter=8, cv=3, random_state=0).fit(X, Y)
    assert fitted.study_.swept.name == "C"
    assert fitted.study_.trials[0].origin == "start"
    assert fitted.study_.trials[0].params["kernel"] == "rbf"
    assert fitted.best_score_ > 0.8
    assert "expon(scale=100)" in code_snippet(fitted.study_)
    assert SpotSearchCV(SVC(), GUIDE, **FEW).fit(X, Y).cv_results_["param_C"].max() < expon(scale=100).ppf(0.9996)
