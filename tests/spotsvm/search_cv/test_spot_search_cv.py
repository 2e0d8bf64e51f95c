import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from spotsvm import SpotSearchCV, TunedSVC
from spotsvm.errors import ArgumentError, StudyMismatchError

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
CONDITIONAL = [{"kernel": ["rbf"], "gamma": loguniform(1e-3, 1e1)}, {"kernel": ["poly"], "degree": randint(2, 4)}]
LEVELS = [0.01, 0.1, 1.0, 10.0, 100.0]


def search(estimator=None, space=SPACE, **options):
    options = PLAIN | {"n_iter": 6, "search": "random", "cv": 3, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


def test_batches_fill_the_budget_and_a_used_up_space_ends_it():
    told = []
    fitted = search(n_iter=7, batch_size=3, callback=lambda study, trial: told.append((study.n_finished, trial.number)))
    assert len(fitted.fit(X, Y).cv_results_["params"]) == 7
    assert told == [(k + 1, k) for k in range(7)]
    with pytest.warns(UserWarning, match="total space of parameters 3 is smaller than n_iter=6"):
        fitted = search(space={"C": [0.1, 1.0, 10.0]}, batch_size=2).fit(X, Y)
    assert sorted(fitted.cv_results_["param_C"]) == [0.1, 1.0, 10.0]


def test_parameters_that_do_not_exist_are_masked():
    fitted = search(space=CONDITIONAL, n_iter=10).fit(X, Y)
    kernel, gamma, degree = (fitted.cv_results_[f"param_{name}"] for name in ("kernel", "gamma", "degree"))
    assert set(kernel) == {"rbf", "poly"}
    assert gamma.mask.tolist() == (kernel == "poly").tolist() == (~degree.mask).tolist()
    assert (kernel.dtype, gamma.dtype, degree.dtype) == (object, np.float64, np.int64)
    names = [set(params) for params in fitted.cv_results_["params"]]
    assert names == [{"kernel", "gamma"} if k == "rbf" else {"kernel", "degree"} for k in kernel]


def test_verbose_prints_a_line_a_candidate(capsys):
    fitted = search(verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [[f"[{k}/6]", "ok"] for k in range(1, 7)]
    assert f"score={fitted.cv_results_['mean_test_score'][5]}" in lines[5]
    search().fit(X, Y)
    assert capsys.readouterr().out == ""


class Lucky(BaseEstimator):
    """Scores the better, the nearer C is to 1, give or take."""

    def __init__(self, C=1.0, spread=0.1):
        self.C, self.spread = C, spread

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def score(self, X, y=None):
        return -abs(np.log(self.C)) + self.spread * LUCK.normal()


LUCK = np.random.default_rng(0)


@pytest.mark.parametrize("noise", ["auto", True])
def test_under_noise_the_best_is_what_the_model_says(noise):
    fitted = search(Lucky(), {"C": loguniform(1e-1, 1e1)}, search="kriging", n_iter=10, noise=noise).fit(X, Y)
    assert fitted.best_index_ == fitted.study_.recommend().number
    assert fitted.best_params_ == dict(fitted.study_.recommend().params)
    assert fitted.best_score_ == fitted.cv_results_["mean_test_score"][fitted.best_index_]
    assert noise is True or "replicate" in {t.origin for t in fitted.study_.trials}


def test_without_noise_the_best_is_the_best_seen():
    fitted = search(Lucky(), {"C": loguniform(1e-1, 1e1)}, search="kriging", n_iter=10).fit(X, Y)
    assert fitted.best_index_ == fitted.cv_results_["mean_test_score"].argmax()
    steady = search(Lucky(spread=0.0), {"C": loguniform(1e-1, 1e1)}, search="kriging", n_iter=10, noise="auto").fit(X, Y)
    assert steady.best_index_ == steady.cv_results_["mean_test_score"].argmax()


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("data", {"X": X + 1e-9}),
        ("data", {"sample_weight": np.ones(60)}),
        ("folds", {"cv": 4}),
        ("estimator", {"estimator": SVC(tol=1e-2)}),
        ("scoring", {"scoring": "f1"}),
        ("metric to optimise", {"refit": "score"}),
        ("return_train_score", {"return_train_score": True}),
        ("space", {"space": SPACE | {"C": loguniform(1e-1, 1e3)}}),
        ("seed", {"random_state": 1}),
    ],
)
def test_the_record_of_another_search_is_refused(tmp_path, what, changed):
    path = tmp_path / "search.db"
    search(path=path).fit(X, Y)
    data = {"X": X, "y": Y} | {k: v for k, v in changed.items() if k in ("X", "y", "sample_weight")}
    options = {k: v for k, v in changed.items() if k not in data}
    said = "belongs to other data; use the same data" if what == "data" else f"another {what}: .* Use the same {what}"
    with pytest.raises(StudyMismatchError, match=f"{said}, or another file"):
        search(path=path, **options).fit(**data)


def test_folds_that_differ_at_each_call_are_refused_before_the_record_is_begun(tmp_path):
    class Unseeded(KFold):
        def split(self, X, y=None, groups=None):
            rows = np.random.default_rng().permutation(len(X))
            yield rows[:40], rows[40:]

        def get_n_splits(self, *_):
            return 1

    for model in (search(cv=Unseeded(), path=tmp_path / "s.db"), TunedSVC(cv=Unseeded(), budget=1, path=tmp_path / "s.db")):
        with pytest.raises(ArgumentError, match="draws other folds at each call, so a search with a record"):
            model.fit(X, Y)
    assert list(tmp_path.iterdir()) == []
    remedy = list(Unseeded().split(X))
    for _ in range(2):
        search(cv=remedy, path=tmp_path / "s.db").fit(X, Y)


NSGA2 = {"search": "nsga2", "scoring": ["accuracy", "recall"], "refit": "recall"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": 5}, "estimator=5 has no method fit"),
        ({"n_iter": 0}, "n_iter=0 is not a number of candidates"),
        ({"batch_size": 0}, "batch_size=0 is not a number of candidates"),
        ({"search": "nonsense"}, "search='nonsense' is unknown"),
        ({"error_score": "nonsense"}, "error_score='nonsense' is not a score"),
        ({"noise": "maybe"}, "noise='maybe' is unknown"),
        ({"scoring": "nonsense"}, "scoring='nonsense' is unknown"),
        ({"scoring": []}, "Empty list"),
        ({"n_jobs": "all"}, "'n_jobs' parameter"),
        ({"cv": iter([])}, "Was the CV iterator empty"),
        ({"cv": 100}, "n_splits=100"),
        ({"space": {"nonsense": [1, 2]}}, "Invalid parameter 'nonsense' for estimator SVC"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
        ({"engine": "turbo"}, "engine='turbo'; use 'auto' or 'sklearn'"),
        *(
            (
                NSGA2 | {"scoring": scoring, "refit": False},
                "is for two or more objectives, and scoring=.* no more than one metric",
            )
            for scoring in (None, "accuracy", ["accuracy"], {"a": "accuracy"}, lambda estimator, X, y: {"a": 1.0, "b": 2.0})
        ),
        (NSGA2 | {"stop": "uncertainty"}, "stop='uncertainty' is for one objective"),
        ({"retries": -1}, "retries=-1"),
        ({"trial_timeout": 0}, "trial_timeout=0"),
        ({"executor": "nowhere"}, "executor='nowhere'"),
        ({"executor": 3}, "executor=3"),
        ({"start": {"C": 1000.0, "gamma": 1.0}}, "start is not in the space: C=1000.0 is not a number in"),
    ],
)
@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_an_argument_that_makes_no_sense_is_one_clear_error(options, message, error_score):
    with pytest.raises(ValueError, match=message):
        search(**{"error_score": error_score} | options).fit(X, Y)


def test_data_may_be_frames_and_must_fit_together():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        search().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="n_splits=5 .* number of samples"):
        search(cv=5).fit(X[:4], [0, 1, 0, 1])
    frame, series = pd.DataFrame(X, columns=list("abcd")), pd.Series(Y)
    kind = (pd.DataFrame, pd.Series)
    fitted = few(Probe(kind=kind), {"level": [1, 2]}, n_iter=2).fit(frame, series)
    assert fitted.predict(frame).shape == (60,)
    fitted = few().fit(frame, series)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(splits(fitted), splits(few().fit(X, Y)))


def few(estimator=None, space=SPACE, **options):
    return search(estimator, space, **{"n_iter": 4} | options)


def splits(fitted, side="test", metric="score"):
    """Scores, a row a candidate and a column a fold."""
    return np.array([fitted.cv_results_[f"split{i}_{side}_{metric}"] for i in range(fitted.n_splits_)]).T


class Probe(ClassifierMixin, BaseEstimator):
    """Scores its own parameter; `kind`, if given, is what data must be."""

    def __init__(self, level=0, kind=None):
        self.level, self.kind = level, kind

    def fit(self, X, y=None):
        assert not hasattr(self, "fitted_"), "fitted twice"
        assert self.kind is None or (isinstance(X, self.kind) and isinstance(y, self.kind))
        self.fitted_, self.shapes_ = True, (np.shape(X), np.shape(y))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        assert self.kind is None or isinstance(X, self.kind)
        return float(self.level >= 2)


def test_folds_may_be_a_generator():
    class Once:
        """A splitter whose folds can be asked for only once."""

        def __init__(self):
            self.folds = iter(KFold(3, shuffle=True, random_state=0).split(X))

        def split(self, X=None, y=None, groups=None):
            yield from self.folds

        def get_n_splits(self, X=None, y=None, groups=None):
            return 3

    expected = splits(few(cv=KFold(3, shuffle=True, random_state=0)).fit(X, Y))
    for folds in (KFold(3, shuffle=True, random_state=0).split(X), Once()):
        assert np.array_equal(splits(few(cv=folds).fit(X, Y)), expected)


def test_a_precomputed_kernel_is_cut_in_both_directions():
    kernel = rbf_kernel(X, gamma=0.3)
    fitted = few(SVC(kernel="precomputed"), {"C": LEVELS}).fit(kernel, Y)
    other = few(SVC(gamma=0.3), {"C": LEVELS}).fit(X, Y)
    assert np.allclose(splits(fitted), splits(other))
    assert np.array_equal(fitted.predict(kernel[:9]), other.predict(X[:9]))
    assert fitted.__sklearn_tags__().input_tags.pairwise
    assert np.array_equal(cross_val_score(fitted, kernel, Y), cross_val_score(other, X, Y))
    with pytest.raises(ValueError, match="should be a square kernel matrix"):
        fitted.fit(kernel[:, :30], Y)
    with pytest.raises(ValueError, match="have to be passed as arrays or sparse matrices"):
        fitted.fit(kernel.tolist(), Y)


def test_unsupervised_with_and_without_answers():
    points, labels = make_blobs(n_samples=50, random_state=0)
    kmeans = KMeans(random_state=0, init="random", n_init=1)
    scoring = ["adjusted_rand_score", "fowlkes_mallows_score"]
    for refit in scoring:
        fitted = few(kmeans, {"n_clusters": [2, 3, 4]}, n_iter=3, scoring=scoring, refit=refit).fit(points, labels)
        assert fitted.best_params_ == {"n_clusters": 3}
    fitted = few(kmeans, {"n_clusters": [2, 3, 4]}, n_iter=3).fit(points)
    assert fitted.best_params_ == {"n_clusters": 4}
    assert fitted.transform(points).shape == (50, 4)
    assert fitted.score(points) == fitted.best_estimator_.score(points)


def test_whole_estimators_are_choices_and_stay_unfitted():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", None)])
    choices = {"scale": ["passthrough", StandardScaler(), None], "model": [LinearSVC(), SVC()], "model__C": [0.5, 2.0]}
    fitted = few(pipeline, choices, n_iter=8, scoring="accuracy").fit(X, Y)
    column = fitted.cv_results_["param_model"]
    assert {type(model) for model in column} == {LinearSVC, SVC}
    assert not any(hasattr(model, "classes_") for model in [*choices["model"], *column])
    assert [model.C for model in choices["model"]] == [1.0, 1.0]
    assert fitted.best_estimator_[-1].C == fitted.best_params_["model__C"]
    assert fitted.best_estimator_[-1] is not fitted.best_params_["model"]


def test_it_is_cloned_set_pickled_and_nested(tmp_path):
    inside = make_pipeline(StandardScaler(), few())
    outside = few(make_pipeline(StandardScaler(), SVC()), {f"svc__{name}": law for name, law in SPACE.items()})
    scores = [cross_val_score(one, X, Y, cv=3, error_score="raise") for one in (inside, outside)]
    assert min(map(np.min, scores)) > 0.6
    assert inside.fit(X, Y).score(X, Y) == (inside.predict(X) == Y).mean()
    twice = few(few(space={"gamma": LEVELS}, n_iter=2), {"estimator__C": LEVELS}, n_iter=2).fit(X, Y)
    assert twice.best_estimator_.best_estimator_.C == twice.best_params_["estimator__C"]
    one = few(make_pipeline(StandardScaler(), SVC()), {"svc__C": LEVELS}, path=tmp_path / "search.db")
    assert one.get_params()["estimator__svc__C"] == 1.0
    assert one.set_params(estimator__svc__tol=1e-2, n_iter=3).estimator[-1].tol == 1e-2
    other = pickle.loads(pickle.dumps(clone(one))).fit(X, Y)
    assert np.array_equal(splits(other), splits(one.fit(X, Y)))
    again = pickle.loads(pickle.dumps(one))
    assert again.study_.path is None
    assert again.study_.trials == one.study_.trials
    assert np.array_equal(again.predict(X), one.predict(X))
    assert np.array_equal(splits(again.fit(X, Y)), splits(one))
