import pytest
from completed_trials import OURS


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of two threads each, with nannies."""
    distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')
    # else it gives up a worker that is down at that time after another of its deaths
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, **OURS) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=20)
        yield client
