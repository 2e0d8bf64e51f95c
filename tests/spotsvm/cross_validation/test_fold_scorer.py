import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from spotsvm import HistoryPipeline, LeakyRain
from spotsvm.cross_validation.fold_scorer import FoldScorer

X, Y = make_classification(n_samples=45, n_features=4, random_state=0)
SPLITS = list(KFold(3).split(X))


def scorer(estimator=None, X=X, y=Y, splits=SPLITS, fit_params=None, **options):
    return FoldScorer(SVC() if estimator is None else estimator, X, y, splits, fit_params or {}, **options)


def both(estimator, X, y):
    return {"a": 0.5, "b": 1.0}


def test_the_names_of_scores_are_known_and_those_of_a_callable_once_it_has_scored():
    for scoring, metrics in (({"a": "f1", "b": "accuracy"}, ["a", "b"]), (None, ["score"])):
        one = scorer(scoring=scoring)
        assert (one.metrics, one.multimetric, isinstance(one.scorer, dict)) == (metrics, len(metrics) > 1, len(metrics) > 1)
        assert one.n_splits == 3
    one = scorer(scoring=both)
    assert (one.metrics, one.multimetric) == ([], False)
    one.score([{"C": 1.0}])
    assert (one.metrics, one.multimetric, one.scorer) == (["a", "b"], True, both)


def rows_in_another_order(matrix):
    """The same sparse data, as they are before somebody sorts them."""
    return csr_array((matrix.data.reshape(-1, 4)[:, ::-1].ravel(), matrix.indices.reshape(-1, 4)[:, ::-1].ravel(), matrix.indptr))


def test_the_context_is_the_same_for_the_same_scores_in_any_process(capsys):
    sparse = csr_array(X)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(word="x")
    for data, again in [(X, X.copy()), (X.tolist(), X.tolist()), (sparse, rows_in_another_order(sparse)), (frame, frame.copy())]:
        assert scorer(X=data).context() == scorer(X=again).context()
    used = rows_in_another_order(sparse)
    before = scorer(X=used).context()
    SVC().fit(used, Y)
    assert scorer(X=used).context() == before
    pipelines = [make_pipeline(FunctionTransformer(lambda X: X), SVC()) for _ in range(2)]
    assert repr(pipelines[0]) != repr(pipelines[1])
    assert scorer(pipelines[0]).context() == scorer(pipelines[1]).context()
    usual = scorer().context()
    with config_context(print_changed_only=False):
        assert scorer().context() == usual
    code = (
        "import numpy as np; from sklearn.pipeline import make_pipeline; from sklearn.svm import SVC;"
        "from sklearn.preprocessing import FunctionTransformer; from spotsvm.cross_validation.fold_scorer import FoldScorer;"
        "X, y = np.arange(8.).reshape(4, 2), np.array(['a', 'b'] * 2, dtype=object);"
        "f = FunctionTransformer(lambda X: X);"
        "print(FoldScorer(make_pipeline(f, SVC()), X, y, [(y == 'a', y == 'b')], {}, scoring='f1').context())"
    )
    exec(code, {"__name__": "__main__"})  # functions count by their module as well
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == capsys.readouterr().out != ""


def test_the_context_sees_all_of_a_long_estimator():
    weights = [SVC(class_weight={k: 1.0 + (k == j) for k in range(200)}) for j in (0, 150)]
    long = [FunctionTransformer(kw_args={"values": np.arange(5000) == j}) for j in (2400, 2500)]
    fine = [FunctionTransformer(kw_args={"values": np.array([0.5 + tiny, 0.25])}) for tiny in (0.0, 1e-13)]
    assert repr(long[0]) == repr(long[1])
    assert repr(fine[0]) == repr(fine[1])
    history = [pd.DataFrame({"rain": np.arange(5000) == j}) for j in (2400, 2500)]
    past = [make_pipeline(HistoryPipeline([("leaky", LeakyRain())], history=rain), SVC()) for rain in history]
    assert repr(past[0]) == repr(past[1])
    for pair in (weights, long, fine, past):
        assert scorer(pair[0]).context() != scorer(pair[1]).context()


@pytest.mark.parametrize("estimator", [SVC(), make_pipeline(FunctionTransformer(), SVC()), SVC(max_iter=500)])
def test_once_the_time_is_up_nothing_more_is_solved_but_the_first(estimator):
    name = "C" if isinstance(estimator, SVC) else "svc__C"
    late = scorer(estimator, engine="auto", is_late=lambda: True)
    first, *others = late.score([{name: C} for C in (1.0, 10.0)])
    assert first.mean("score", 3) > 0.5
    if estimator.get_params().get("max_iter") != 500:  # scikit-learn scores both at once
        assert [one.out_of_time for one in others] == [True]
    again = late.score([{name: 100.0}])
    assert again[0].out_of_time
    assert again[0].numbers == {}


def test_candidates_that_share_no_work_are_counted():
    one = scorer(engine="auto")
    one.score([{"C": 1.0}, {"C": 2.0}])
    assert one.n_fitted == 0
    one.score([{"C": 1.0}, {"kernel": "sigmoid", "gamma": 5.0}, {"max_iter": 3}])
    assert one.n_fitted == 2
