import logging

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')

X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL + 1}
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, **options) as client:
        yield client


def search(**options):
    return SpotSearchCV(SVC(), SPACE, n_iter=8, cv=3, random_state=0, **options).fit(X, Y)


@pytest.mark.parametrize("backend", ["dask", "threading", "loky"])
def test_folds_on_a_backend_of_joblib_have_the_scores_that_they_have_here(client, backend):
    with joblib.parallel_config(backend):
        there = search(n_jobs=2, engine="sklearn")
    here = search(engine="sklearn")
    assert there.best_params_ == here.best_params_
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])


def test_batches_of_candidates_on_a_cluster_have_the_scores_that_they_have_here(client):
    there = search(executor=client, batch_size=4)
    here = search(batch_size=4)
    assert there.best_params_ == here.best_params_
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=0, atol=1e-12)


def test_a_free_worker_gets_the_next_candidate_at_once(client):
    there = search(executor="dask", retries=1)
    assert len(there.cv_results_["params"]) == 8
    assert there.best_score_ > 0.7
