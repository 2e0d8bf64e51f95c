import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from studies.virtual_cluster import VirtualCluster


def test_durations_are_log_normal_with_the_mean_that_is_asked_for():
    with VirtualCluster(1, 3.0, spread=0.5, seed=1) as cluster:
        drawn = np.array([cluster._duration(k) for k in range(4000)])
    assert drawn.mean() == pytest.approx(3.0, rel=0.03)
    assert np.log(drawn).std() == pytest.approx(0.5, rel=0.03)


def test_no_more_tasks_run_at_once_than_there_are_workers():
    with VirtualCluster(3, 0.01) as cluster:
        assert list(cluster.map(abs, range(12))) == list(range(12))
    moments = sorted([(due, -1) for _, due in cluster.spans] + [(start, 1) for start, _ in cluster.spans])
    assert max(np.cumsum([step for _, step in moments])) == 3


def test_tasks_end_in_the_order_in_which_they_are_due():
    ended = []
    with VirtualCluster(8, 0.05, seed=2) as cluster:
        futures = [cluster.submit(ended.append, k) for k in range(8)]
        for future in futures:
            future.result()
    assert ended == list(np.argsort([due for _, due in cluster.spans]))


def test_workers_that_always_have_a_task_are_busy():
    with VirtualCluster(4, 0.02) as cluster:
        futures = [cluster.submit(abs, k) for k in range(40)]
        for future in futures:
            future.result()
        last = cluster.submit(abs, 0)
        last.result()
    # the last four tasks do not keep all busy to the end
    assert 0.8 < cluster.busy_share() <= 1.0


def test_workers_that_wait_for_the_slowest_are_not_busy():
    with VirtualCluster(4, 0.02, spread=1.0) as cluster:
        for _ in range(10):
            for future in [cluster.submit(abs, k) for k in range(4)]:
                future.result()
    assert cluster.busy_share() < 0.8


def test_errors_reach_whoever_asks():
    with VirtualCluster(1, 0.001) as cluster, pytest.raises(ZeroDivisionError):
        cluster.submit(divmod, 1, 0).result()


def test_it_ends_at_once():
    cluster = VirtualCluster(1, 600.0)
    futures = [cluster.submit(abs, k) for k in range(3)]
    began = time.monotonic()
    cluster.shutdown()
    assert time.monotonic() - began < 60
    assert not futures[0].done() or futures[0].cancelled()
    with pytest.raises(CancelledError):
        futures[2].result()
    with pytest.raises(RuntimeError, match="shut down"):
        cluster.submit(abs, 1)
