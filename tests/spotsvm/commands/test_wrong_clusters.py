"""Clusters that cannot be used."""

import logging

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm.commands import tune as cluster_module
from spotsvm.study.workers.on_dask import OnDask  # noqa: E402

distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')
OURS = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL + 1, "protocol": "tcp"}


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, **OURS) as cluster:
        yield cluster.scheduler_address


def tune(table, *options):
    return CliRunner().invoke(
        main, ["tune", table, "--target", "y", "--model", "svm", "--cv", "3", "--oversearching", "none", "--no-compare", *options]
    )


def test_nested_searches_are_spread_too(table, address, monkeypatch):
    submitted = []
    submit = OnDask.submit
    monkeypatch.setattr(OnDask, "submit", lambda self, *args: submitted.append(1) or submit(self, *args))
    done = tune(table, "--trials", "3", "--search", "random", "--dask", address, "--oversearching", "nested")
    assert done.exit_code == 0, done.output
    assert len(submitted) == 3 + 5 * 3  # a task for each suggestion


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("tcp://127.0.0.1:1", "no Dask scheduler answers there"), ("host:8786", "is not the address of a Dask scheduler")],
)
def test_a_wrong_address_is_one_line(table, wrong, said, monkeypatch):
    monkeypatch.setattr(cluster_module, "_ANSWER", 0.5)
    done = tune(table, "--dask", wrong)
    assert done.exit_code == 2
    assert done.stderr.startswith("spotsvm: error: --dask ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cluster_without_workers_is_not_waited_for_for_ever(table, monkeypatch):
    monkeypatch.setattr(cluster_module, "_WORKER", 0.3)
    with distributed.LocalCluster(n_workers=0, processes=False, **OURS) as cluster:
        done = tune(table, "--dask", cluster.scheduler_address)
    assert done.exit_code == 2
    assert "no worker appeared within 0.3 s" in done.stderr
    assert done.stderr.count("\n") == 1
