import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TableEncoder, TunedSVC, TunedSVR

X, Y = load_iris(return_X_y=True, as_frame=True)
X, Y = X[::3], Y[::3].to_numpy()
TABLE = X.assign(town=np.resize(["a", "b", "c"], len(X)), day=pd.date_range("2024-01-01", periods=len(X)))
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y]
SMALL = {"families": ["rbf"], "budget": 1, "random_state": 0}
BRANCHES = [
    {"svc__kernel": ["rbf"], "svc__gamma": loguniform(0.01, 1)},
    {"svc__kernel": ["poly"], "svc__degree": randint(2, 4)},
]


def searched(**options):
    return SpotSearchCV(make_pipeline(TableEncoder(), SVC()), BRANCHES, n_iter=3, cv=2, random_state=0, **options)


@pytest.fixture(
    scope="module",
    params=[
        lambda: TunedSVC(**SMALL | {"families": ["relevance_rbf"]}).fit(TABLE, LABELS),
        lambda: TunedSVC(**SMALL, average=False, scoring="neg_log_loss").fit(X.to_numpy(), Y),
        lambda: TunedSVR(**SMALL).fit(TABLE, pd.Series(X.iloc[:, 0] ** 2)),
        lambda: searched().fit(TABLE, LABELS),
        lambda: searched(refit="average", sweep=None).fit(TABLE, LABELS),
        lambda: TableEncoder().fit(TABLE),
    ],
    ids=["TunedSVC", "one SVC", "TunedSVR", "SpotSearchCV", "average", "TableEncoder"],
)
def model(request):
    return request.param()


def by_skops(model):
    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


@pytest.mark.parametrize("kept", [by_skops, lambda model: pickle.loads(pickle.dumps(model))], ids=["skops", "pickle"])
def test_a_fitted_model_is_the_same_when_it_is_loaded(model, kept):
    loaded = kept(model)
    rows = X.to_numpy() if getattr(model, "average", True) is False else TABLE
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            before, after = (np.asarray(getattr(one, method)(rows)) for one in (model, loaded))
            np.testing.assert_array_equal(after, before)
    if hasattr(model, "relevance_"):
        pd.testing.assert_series_equal(loaded.relevance_, model.relevance_)
    frames = {name: value for name, value in vars(model).items() if isinstance(value, pd.DataFrame)}
    assert len(frames) > 0 or not isinstance(model, TunedSVC | TunedSVR)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(getattr(loaded, name), frame)
    assert repr(loaded).split(" at 0x")[0] == repr(model).split(" at 0x")[0]
    if hasattr(model, "out_of_fold_"):
        np.testing.assert_array_equal(loaded.out_of_fold_.answers, model.out_of_fold_.answers)
        assert loaded.out_of_fold_.expected().to_dict() == model.expected_score_.to_dict()
    if isinstance(model, SpotSearchCV):
        assert loaded.best_params_ == model.best_params_
        assert loaded.space[1]["svc__degree"].support() == (2, 3)
        pd.testing.assert_frame_equal(loaded.study_.frame(), model.study_.frame())
        with pytest.raises(TypeError, match="cannot be changed"):
            loaded.study_.trials[0].params["svc__kernel"] = "linear"
        assert loaded.study_.ask().params == pickle.loads(pickle.dumps(model.study_)).ask().params
        again = clone(loaded).set_params(refit=True).fit(TABLE, LABELS)
        assert [t.params for t in again.study_.trials] == [t.params for t in model.study_.trials]
