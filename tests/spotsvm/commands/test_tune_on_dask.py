import logging
import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from completed_trials import becomes
from installed_command import main

from spotsvm import load_study
from spotsvm.commands import tune as cluster_module
from spotsvm.errors import StorageError
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


def test_batches_give_the_same_on_a_cluster_as_here(table, address, tmp_path, no_pictures):
    options = ["--trials", "4", "--search", "random", "--batch-size", "2"]
    there = tune(table, *options, "--dask", address, "--trial-timeout", "60", "--out", str(tmp_path / "there"))
    here = tune(table, *options, "--out", str(tmp_path / "here"))
    assert there.exit_code == here.exit_code == 0, there.output + here.output
    values = [[(t.params, t.value) for t in load_study(tmp_path / where / "random.db").trials] for where in ("there", "here")]
    assert values[0] == values[1]
    found = load_study(tmp_path / "here" / "random.db")
    assert len(values[0]) > found.n_finished == 4


@pytest.mark.faults
def test_ctrl_c_gives_the_cluster_back_and_ends_with_130(table, address, tmp_path):
    def has_told():
        try:
            return any(trial.state == "ok" for trial in load_study(tmp_path / "out" / "random.db").trials)
        except StorageError:
            return False

    def interrupt():
        assert becomes(has_told)
        os.kill(os.getpid(), signal.SIGINT)

    presses = threading.Thread(target=interrupt)
    presses.start()
    done = tune(table, "--trials", "3000", "--search", "random", "--dask", address, "--out", str(tmp_path / "out"))
    presses.join()
    assert done.exit_code == 130
    assert "spotsvm: interrupted; the candidates scored so far are saved in" in done.stderr
    with distributed.Client(address, set_as_default=False) as client:
        assert becomes(lambda: not any(client.processing().values()))
    assert len(load_study(tmp_path / "out" / "random.db").trials) > 0


def test_nested_searches_are_spread_too(table, address, monkeypatch):
    submitted = []
    submit = OnDask.submit
    monkeypatch.setattr(OnDask, "submit", lambda self, *args: submitted.append(1) or submit(self, *args))
    done = tune(table, "--trials", "1", "--search", "random", "--dask", address, "--oversearching", "nested")
    assert done.exit_code == 0, done.output
    assert len(submitted) == 1 + 5  # a task for each suggestion


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
