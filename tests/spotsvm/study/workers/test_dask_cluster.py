import sys
from functools import partial
from types import SimpleNamespace

import pytest
from completed_trials import OURS

from spotsvm import Study
from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.dask_cluster import _differences, connect, dask_client, is_dask


@pytest.fixture
def distributed():
    return pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')


def test_without_dask_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    study = Study({"x": [1, 2]}, "random", 0)
    for act in (partial(dask_client, "dask"), partial(study.run, lambda params: 1.0, 2, "dask")):
        with pytest.raises(ArgumentError, match=r'executor="dask" needs Dask; install it by pip install "spotsvm\[dask\]"$'):
            act()
    with pytest.raises(ArgumentError, match=r'--dask needs Dask; install it by pip install "spotsvm\[dask\]"'):
        connect("tcp://127.0.0.1:1", "--dask")


def test_what_is_no_client_is_none():
    class Client:
        pass

    assert not is_dask(Client())
    assert not is_dask("tcp://127.0.0.1:8786")


def test_no_client_an_asynchronous_or_a_closed_one_is_refused(distributed):
    with pytest.raises(ArgumentError, match='executor="dask" needs a client in use, and there is none'):
        dask_client("dask")
    with distributed.Client(processes=False, n_workers=0, **OURS) as client:
        assert is_dask(client)
        assert dask_client("dask") is client
        assert dask_client(client) is client
    with pytest.raises(ArgumentError, match="is closed; use a client that is connected"):
        dask_client(client)

    class Client:
        asynchronous = True

        def __repr__(self):
            return "<Client>"

    with pytest.raises(ArgumentError, match="executor=<Client> is an asynchronous client"):
        dask_client(Client())


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://no.such.host.invalid:8786"])
def test_where_no_scheduler_answers_it_is_said_in_time(distributed, address):
    with pytest.raises(WorkersError, match=f"--dask {address}: no Dask scheduler answers there"):
        connect(address, "--dask", timeout=0.5)


@pytest.mark.parametrize("address", ["gopher://host:8786", "", "nonsense:", "host:8786", "tcp://host", "tcp://host:port"])
def test_what_is_no_address_is_named(distributed, address):
    with pytest.raises(ArgumentError, match=f"--dask '{address}' is not the address of a Dask scheduler"):
        connect(address, "--dask", timeout=0.5)


def test_a_client_of_ours_is_nobodys_default(distributed):
    with distributed.LocalCluster(processes=False, n_workers=0, **OURS) as cluster:
        with connect(cluster.scheduler_address, "--dask"), pytest.raises(ValueError, match="No clients found"):
            distributed.Client.current()


def test_versions_that_differ_are_told_in_one_line():
    def packages(**versions):
        return {"packages": versions}

    versions = {
        "client": packages(distributed="2", numpy="1"),
        "scheduler": packages(distributed="2", numpy="1"),
        "workers": {"tcp://a:1": packages(distributed="1", numpy="1")},
    }
    told = _differences(SimpleNamespace(get_versions=lambda: versions))
    assert told == "versions differ, and trials may fail: distributed 1 at tcp://a:1 (here 2)"
