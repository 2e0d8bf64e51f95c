import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from completed_trials import OURS, all_completed, becomes, is_alive
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError, WorkersError

distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')

from spotsvm.study.workers import on_dask  # noqa: E402
from spotsvm.study.workers.executor import SharedObjective  # noqa: E402
from spotsvm.study.workers.on_dask import OnDask  # noqa: E402

SPACE = {"x": uniform(0, 1)}
# where a process dies, Dask's own connections to it are closed by the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def alone():
    """A cluster of one worker of one thread in this process, and its client."""
    options = {"n_workers": 1, "processes": False, "threads_per_worker": 1, **OURS}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield cluster, client


@pytest.fixture
def study(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        yield study


def all_of(workers, n):
    return dict(all_completed(workers, n))


def counted(file):
    """Return a function that counts its calls over all processes."""

    def count():
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, b".")
        n = os.lseek(handle, 0, os.SEEK_CUR)
        os.close(handle)
        return n

    return count


@pytest.mark.faults
@pytest.mark.parametrize("retries", [0, 1])
def test_a_trial_that_kills_its_process_is_lost_and_harms_no_other(client, tmp_path, retries):
    count = counted(str(tmp_path / "calls"))

    def objective(params):
        if count() % 10 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return params["x"]

    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        study.run(objective, 20, client, retries=retries)
    lost = [reason for trial in study.trials for reason in trial.lost]
    assert (tmp_path / "calls").stat().st_size == 20 + (len(lost) if retries else 0)
    assert len(lost) >= 2
    assert all(reason.startswith("the worker process was killed by SIGKILL") for reason in lost)
    assert [trial.state for trial in study.trials] == ["failed" if len(t.lost) > retries else "ok" for t in study.trials]


@pytest.mark.faults
def test_a_trial_whose_dask_worker_dies_is_run_again_by_dask(client, tmp_path):
    count = counted(str(tmp_path / "calls"))

    def objective(params):
        if count() == 2:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        return params["x"]

    study = Study(SPACE, "random", 0).run(objective, 8, client)
    assert [trial.state for trial in study.trials] == ["ok"] * 8
    assert not any(trial.lost for trial in study.trials)
    assert (tmp_path / "calls").stat().st_size >= 9


@pytest.mark.faults
def test_a_trial_past_its_time_is_killed_and_what_else_the_worker_does_goes_on(client, tmp_path):
    def objective(params):
        if params["x"] == 0:
            (tmp_path / "pid").write_text(str(os.getpid()))
            time.sleep(600)
        return params["x"]

    workers_before = set(client.nthreads())
    with OnDask(objective, client, trial_timeout=2.0) as workers:
        for key in range(5):
            workers.submit(key, {"x": key})
        found = all_of(workers, 5)
        assert (found[0].state, found[0].reason) == ("timeout", "it took longer than trial_timeout=2 s")
        assert [found[key].value for key in range(1, 5)] == [1.0, 2.0, 3.0, 4.0]
        assert becomes(lambda: not is_alive(int((tmp_path / "pid").read_text())))
    assert set(client.nthreads()) == workers_before


def test_the_processes_of_a_run_end_with_it(client):
    with OnDask(lambda params: os.getpid(), client) as workers:
        for key in range(8):
            workers.submit(key, {})
        pids = {int(outcome.value) for outcome in all_of(workers, 8).values()}
        assert all(map(is_alive, pids))
    assert becomes(lambda: not any(map(is_alive, pids)))


def test_studies_that_take_turns_keep_their_processes(alone):
    _, client = alone
    with OnDask(lambda params: os.getpid(), client) as one, OnDask(lambda params: -os.getpid(), client) as other:
        found = []
        for key in range(3):
            for workers in (one, other):
                workers.submit(key, {})
                found.append(all_of(workers, 1)[key].value)
    assert len(set(found)) == 2
    with monkey_pools(1), OnDask(lambda params: 1.0, client) as one, OnDask(lambda params: 2.0, client) as other:
        for key in range(2):
            for workers, value in ((one, 1.0), (other, 2.0)):
                workers.submit(key, {})
                assert all_of(workers, 1)[key].value == value
    assert becomes(lambda: not any(on_dask._pools.values()))


@contextlib.contextmanager
def monkey_pools(n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_dask, "_MOST_POOLS", n)
        yield


def test_an_objective_on_another_machine_is_sent_with_the_trial(client, tmp_path, monkeypatch):
    """A worker that cannot read the file of this machine."""
    with OnDask(lambda params: params["x"] + 1.0, client) as workers:
        elsewhere = (Path(workers._shared.token.folder) / "objective").rename(tmp_path / "elsewhere")
        monkeypatch.setattr(SharedObjective, "payload", property(lambda shared: elsewhere.read_bytes()))
        for key in range(6):
            workers.submit(key, {"x": key})
        assert {key: outcome.value for key, outcome in all_of(workers, 6).items()} == {key: key + 1.0 for key in range(6)}


@pytest.mark.parametrize("grow", ["scale", "adapt"])
def test_trials_wait_for_the_first_worker_and_an_adaptive_cluster_grows_with_them(grow):
    options = {"processes": False, "threads_per_worker": 1, **OURS}
    with distributed.LocalCluster(n_workers=0, **options) as cluster, distributed.Client(cluster) as client:
        n_jobs = 3 if grow == "adapt" else None
        with OnDask(lambda params: time.sleep(0.3) or 1.0, client, n_jobs=n_jobs) as workers:
            assert workers.n_workers == (n_jobs or 1)
            for key in range(workers.n_workers):
                workers.submit(key, {})
            assert workers.wait(0.1) == []
            if grow == "scale":
                cluster.scale(1)
                assert all_of(workers, 1)[0].state == "ok"
                return
            cluster.adapt(minimum=0, maximum=2, interval="50ms", target_duration="10ms")
            largest = n_ended = 0
            for key in range(3, 12):
                n_ended += len(all_of(workers, 1))
                largest = max(largest, len(client.nthreads()))
                workers.submit(key, {})
            all_of(workers, 12 - n_ended)
            assert largest == 2


def test_no_worker_is_said_once(monkeypatch, caplog):
    monkeypatch.setattr(on_dask, "_PATIENCE", 0.0)
    monkeypatch.setattr(on_dask, "_LOOK", 0.1)
    with distributed.Client(processes=False, n_workers=0, **OURS) as client, OnDask(lambda params: 1.0, client) as workers:
        workers.submit(0, {})
        assert workers.wait(0.5) == []
        said = f"the Dask cluster at {client.cluster.scheduler_address} has no worker; 1 trials wait for one"
    assert [record.getMessage() for record in caplog.records if record.name.startswith("spotsvm")] == [said]


def test_a_run_ends_when_the_cluster_has_lost_all_its_workers_and_keeps_what_was_told(alone, study, monkeypatch):
    monkeypatch.setattr(on_dask, "NO_WORKERS_SECONDS", 0.3)
    monkeypatch.setattr(on_dask, "_LOOK", 0.1)
    cluster, client = alone

    def lose_all(study, trial):
        if study.n_finished == 3:
            cluster.scale(0)
            while client.nthreads():
                time.sleep(0.01)

    said = r"the Dask cluster at inproc:.* has had no worker for .* s, and \d+ trials wait for one; completed trials are"
    with pytest.raises(WorkersError, match=said):
        study.run(lambda params: params["x"], 10, client, callback=lose_all)
    told = [t for t in study.trials if t.state == "ok"]
    assert len(told) == study.n_finished >= 3
    cluster.scale(1)
    client.wait_for_workers(1, timeout=20)
    assert study.run(lambda params: params["x"], 10, client).n_finished == 10
    assert [t for t in study.trials if t.number in {one.number for one in told}] == told


def test_a_cluster_that_is_gone_ends_the_run_and_keeps_what_was_told(alone, study):
    cluster, client = alone

    def stop(study, trial):
        if study.n_finished == 3:
            client.close()

    said = "the connection to the Dask scheduler at inproc:.* is lost; completed trials are kept"
    with pytest.raises(WorkersError, match=said):
        study.run(lambda params: params["x"], 10, client, callback=stop)
    assert study.n_finished >= 3
    with distributed.Client(cluster) as another:
        assert study.run(lambda params: params["x"], 10, another).n_finished == 10


@pytest.mark.faults
def test_a_scheduler_that_dies_ends_the_run():
    cluster = distributed.LocalCluster(n_workers=1, processes=False, threads_per_worker=1, protocol="tcp", **OURS)
    study, error = Study(SPACE, "random", 0), None
    dies = threading.Thread(target=cluster.close)
    with contextlib.suppress(Exception), distributed.Client(cluster, timeout=2) as client:
        try:
            study.run(lambda p: p["x"], 10_000, client, callback=lambda s, t: s.n_finished == 5 and dies.start())
        except WorkersError as raised:
            error = raised
    dies.join()
    assert "the connection to the Dask scheduler at tcp:" in str(error)
    assert 5 <= study.n_finished < 10_000


def test_a_study_takes_the_client_in_use_and_batches_depend_on_the_seed_alone(client):
    there, here = (Study(SPACE, "kriging", 3).run(lambda p: (p["x"] - 0.3) ** 2, 9, on, batch_size=3) for on in ("dask", None))
    assert [(t.params, t.value) for t in there.trials] == [(t.params, t.value) for t in here.trials]


def test_an_objective_that_cannot_be_pickled_or_imported_by_the_workers_is_named(client, tmp_path, monkeypatch):
    lock = threading.Lock()
    with pytest.raises(ArgumentError, match="objective cannot be sent to a worker process: .* cannot pickle '_thread.lock'"):
        Study(SPACE, "random", 0).run(lambda params: lock, 5, client)
    (tmp_path / "only_here_and_not_there.py").write_text("def objective(params):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here_and_not_there

    with pytest.raises(ArgumentError, match="cannot be loaded in a worker process: .*No module named 'only_here_and_not_there'"):
        Study(SPACE, "random", 0).run(only_here_and_not_there.objective, 5, client)
