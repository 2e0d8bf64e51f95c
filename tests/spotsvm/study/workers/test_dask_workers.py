import contextlib
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from completed_trials import OURS, all_completed, becomes, is_alive
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError, WorkersError

distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')

from spotsvm.study.workers import dask_workers  # noqa: E402
from spotsvm.study.workers.dask_workers import DaskWorkers  # noqa: E402

SPACE = {"x": uniform(0, 1)}
# where a process dies, Dask's own connections to it are closed by the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def threads():
    """A cluster of one worker of two threads in this process, without a nanny."""
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, **OURS) as client:
        yield client


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


def test_the_objective_is_sent_to_each_worker_once_and_to_one_that_joins_later(cluster, client, tmp_path):
    log = str(tmp_path / "unpickled")

    def arrived(array):
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return Sent(array)

    class Sent:
        def __init__(self, array):
            self.array = array

        def __reduce__(self):
            return arrived, (self.array,)

        def __call__(self, params):
            time.sleep(0.02)
            return {"value": float(self.array[0]), "pid": os.getpid()}

    with DaskWorkers(Sent(np.ones(100_000)), client) as workers:
        for key in range(40):
            workers.submit(key, {})
        pids = {outcome.extra["pid"] for outcome in all_of(workers, 40).values()}
        assert len(pids) == 2
        assert sorted(map(float, Path(log).read_text().split())) == sorted(pids)
        try:
            cluster.scale(3)
            client.wait_for_workers(3, timeout=120)
            assert becomes(lambda: workers.n_workers == 6)
            for key in range(60):
                workers.submit(key, {})
            more = {outcome.extra["pid"] for outcome in all_of(workers, 60).values()}
        finally:
            cluster.scale(2)
        assert len(more) == 3
        assert more > pids
        assert sorted(map(float, Path(log).read_text().split())) == sorted(more)


@pytest.mark.faults
@pytest.mark.parametrize("retries", [0, 1])
def test_a_worker_killed_every_twenty_trials_loses_no_trial(client, tmp_path, retries):
    count = counted(str(tmp_path / "calls"))

    def objective(params):
        if count() % 20 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.01)
        return params["x"]

    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        study.run(objective, 40, client, retries=retries)
        lost = [reason for trial in study.trials for reason in trial.lost]
        failed = [trial for trial in study.trials if trial.state == "failed"]
        assert study.n_finished == len(study.trials) == 40
    n_calls = (tmp_path / "calls").stat().st_size
    assert 2 <= len(lost) <= 2 * (n_calls // 20)
    assert all(reason.startswith("the Dask worker tcp://127.0.0.1:") and " died (killed" in reason for reason in lost)
    # each attempt was counted once, but one that died with its worker before it began
    n_attempts = 40 + len(lost) - len(failed)
    assert n_attempts - len(lost) // 2 <= n_calls <= n_attempts
    if retries == 0:
        assert [trial.reason for trial in failed] == lost
        assert len(failed) == len(lost)
    assert all(trial.state == "ok" or len(trial.lost) == retries + 1 for trial in study.trials)


@pytest.mark.faults
def test_a_trial_past_its_time_is_killed_and_what_else_the_worker_did_begun_anew(client, tmp_path, monkeypatch):
    ahead = 0.0  # of the clock of the limits
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead, perf_counter=time.perf_counter)
    monkeypatch.setattr(dask_workers, "time", clock)

    def objective(params):
        (tmp_path / f"{params['key']} began {time.monotonic_ns()} {os.getpid()}").touch()
        if params["key"] == 0:
            time.sleep(600)
        if params["key"] < 4:
            (stuck,) = tmp_path.glob("0 began *")
            assert becomes(lambda: not is_alive(int(stuck.name.split()[-1])))
        return 1.0

    def n_begun(key="*"):
        return len(list(tmp_path.glob(f"{key} began *")))

    with DaskWorkers(objective, client, trial_timeout=300.0) as workers:
        workers.submit(0, {"key": 0})
        assert becomes(lambda: workers.wait(0.05) or all(one.deadline for one in workers._pending.values()))
        ahead = 200.0
        for key in (1, 2, 3):  # with two workers of two threads, one of them is with the first
            workers.submit(key, {"key": key})
        assert becomes(lambda: n_begun() == 4)
        ahead = 301.0
        found = all_of(workers, 4)
        assert found[0].state == "timeout"
        assert found[0].reason == "it took longer than trial_timeout=300 s"
        assert [found[key].state for key in (1, 2, 3)] == ["ok"] * 3
        assert n_begun() == 5
        assert n_begun(0) == 1
        assert becomes(lambda: workers.n_workers == 4)
        workers.submit(9, {"key": 9})
        assert all_of(workers, 1)[9].value == 1.0


def test_without_a_nanny_a_trial_past_its_time_holds_its_thread_until_it_ends(threads):
    ends = threading.Event()
    with DaskWorkers(lambda params: ends.wait(120 * params["slow"]) * 1.0, threads, trial_timeout=0.2) as workers:
        workers.submit(0, {"slow": 1})
        workers.submit(1, {"slow": 0})
        found = all_of(workers, 2)
        assert (found[0].state, found[1].state) == ("timeout", "ok")
        assert workers.n_workers == 1
        ends.set()
        workers.submit(2, {"slow": 0})
        workers.submit(3, {"slow": 0})
        assert {outcome.state for outcome in all_of(workers, 2).values()} == {"ok"}
        assert workers.n_workers == 2


def test_a_run_ends_when_all_workers_hang_and_nobody_can_kill_them(threads, monkeypatch):
    monkeypatch.setattr(dask_workers, "_PATIENCE", 0.3)
    ends = threading.Event()
    study = Study(SPACE, "random", 0)
    with pytest.raises(WorkersError, match="all workers of the Dask cluster at inproc:.* hang past trial_timeout=0.1"):
        study.run(lambda params: ends.wait(120) * 1.0, 5, threads, trial_timeout=0.1)
    ends.set()
    assert [trial.state for trial in study.trials[:2]] == ["timeout", "timeout"]
    assert study.run(lambda params: 1.0, 5, threads).n_finished == 5


def test_a_worker_that_is_told_to_leave_has_its_trial_begun_anew(tmp_path):
    count = counted(str(tmp_path / "calls"))

    def objective(params):
        count()
        assert becomes((tmp_path / "retired").exists)
        return 1.0

    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, **OURS}
    with distributed.Client(**options) as client, DaskWorkers(objective, client) as workers:
        workers.submit(0, {})
        workers.submit(1, {})
        while not (tmp_path / "calls").exists() or (tmp_path / "calls").stat().st_size < 2:
            workers.wait(0.02)
        client.retire_workers(list(client.nthreads())[:1])
        (tmp_path / "retired").touch()
        assert {outcome.state for outcome in all_of(workers, 2).values()} == {"ok"}
        assert workers.n_workers == 1
    assert (tmp_path / "calls").stat().st_size == 3


def test_an_objective_that_was_pushed_out_of_a_worker_is_sent_again(threads, monkeypatch):
    monkeypatch.setattr(dask_workers, "_MAX_OBJECTIVES", 1)
    with DaskWorkers(lambda params: 1.0, threads) as one, DaskWorkers(lambda params: 2.0, threads) as other:
        for key in range(3):
            for workers, value in ((one, 1.0), (other, 2.0)):
                workers.submit(key, {})
                assert all_of(workers, 1)[key].value == value
        assert len(dask_workers._objectives) == 1
    assert becomes(lambda: not dask_workers._objectives)


def test_blas_has_one_thread_in_a_trial(threads):
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def objective(params):
        return float(max(pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"))

    with threadpoolctl.threadpool_limits(2, "blas"):
        if objective({}) < 2:
            pytest.skip("BLAS has one thread here in any case")
        with DaskWorkers(objective, threads) as workers:
            workers.submit(0, {})
            assert all_of(workers, 1)[0].value == 1.0
        assert objective({}) == 2.0


@pytest.mark.parametrize("grow", ["scale", "adapt"])
def test_trials_wait_for_the_first_worker_and_an_adaptive_cluster_grows_with_them(grow):
    options = {"processes": False, "threads_per_worker": 1, **OURS}
    with distributed.LocalCluster(n_workers=0, **options) as cluster, distributed.Client(cluster) as client:
        n_jobs = 3 if grow == "adapt" else None
        with DaskWorkers(lambda params: time.sleep(0.3) or 1.0, client, n_jobs=n_jobs) as workers:
            assert workers.n_workers == (n_jobs or 1)
            for key in range(workers.n_workers):
                workers.submit(key, {})
            assert workers.wait(0.1) == []
            if grow == "scale":
                cluster.scale(1)
                assert all_of(workers, 1)[0].state == "ok"
                return
            cluster.adapt(minimum=0, maximum=2, interval="50ms", target_duration="10ms")
            n_ended, n_submitted, until = 0, 3, time.monotonic() + 60
            while len(client.nthreads()) < 2:
                assert time.monotonic() < until
                n_ended += len(all_of(workers, 1))
                workers.submit(n_submitted, {})
                n_submitted += 1
            all_of(workers, n_submitted - n_ended)


def test_no_worker_is_said_once(monkeypatch, caplog):
    monkeypatch.setattr(dask_workers, "_PATIENCE", 0.0)
    with distributed.Client(processes=False, n_workers=0, **OURS) as client:
        with DaskWorkers(lambda params: 1.0, client) as workers:
            workers.submit(0, {})
            assert workers.wait(1.2) == []
    assert [record.getMessage() for record in caplog.records if record.name.startswith("spotsvm")] == [
        f"the Dask cluster at {client.cluster.scheduler_address} has no worker; 1 trials wait for one"
    ]


@pytest.mark.parametrize("how", ["constant", "setting"])
def test_a_run_ends_when_the_cluster_has_lost_all_its_workers_and_keeps_what_was_told(how, alone, study, monkeypatch):
    import dask

    monkeypatch.setattr(dask_workers, "NO_WORKERS_SECONDS", 0.3 if how == "constant" else 60.0)
    cluster, client = alone

    def lose_all(study, trial):
        if study.n_finished == 3:
            cluster.scale(0)
            while client.nthreads():
                time.sleep(0.01)

    said = r"the Dask cluster at inproc:.* has had no worker for 0.3 s, and \d+ trials wait for one; completed trials are"
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "300 ms" if how == "setting" else None}):
        with pytest.raises(WorkersError, match=said):
            study.run(lambda params: params["x"], 10, client, callback=lose_all)
        told = [t for t in study.trials if t.state == "ok"]
        assert len(told) == study.n_finished >= 3
        with pytest.raises(WorkersError, match=said):  # a second run has never seen a worker there
            study.run(lambda params: params["x"], 10, client)
        cluster.scale(1)
        client.wait_for_workers(1, timeout=120)
        assert study.run(lambda params: params["x"], 10, client).n_finished == 10
    assert [t for t in study.trials if t.number in {one.number for one in told}] == told


def test_the_first_worker_is_waited_for_longer_than_one_that_was_lost(monkeypatch):
    import dask

    monkeypatch.setattr(dask_workers, "NO_WORKERS_SECONDS", 0.0)
    with distributed.Client(processes=False, n_workers=0, **OURS) as client:
        with DaskWorkers(lambda params: 1.0, client) as workers:
            workers.submit(0, {})
            assert workers.wait(0.2) == []
        with (
            dask.config.set({"distributed.scheduler.no-workers-timeout": 0.1}),
            DaskWorkers(lambda params: 1.0, client) as workers,
        ):
            workers.submit(0, {})
            with pytest.raises(WorkersError, match="has had no worker for 0.1 s, and 1 trials wait for one"):
                workers.wait(20.0)
        with dask.config.set({"distributed.scheduler.no-workers-timeout": "soon"}):
            with pytest.raises(ArgumentError, match="no-workers-timeout='soon' in Dask's configuration is not a duration"):
                DaskWorkers(lambda params: 1.0, client)


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
def test_a_scheduler_that_dies_ends_the_run(tmp_path):
    cluster = distributed.LocalCluster(n_workers=1, processes=False, threads_per_worker=1, protocol="tcp", **OURS)
    with contextlib.suppress(Exception), distributed.Client(cluster, timeout=2) as client:
        study, closing = Study(SPACE, "random", 0), threading.Thread(target=cluster.close)

        def close(study, trial):
            if study.n_finished == 3:
                closing.start()

        with pytest.raises(WorkersError, match="the connection to the Dask scheduler at tcp:.* is lost"):
            study.run(lambda params: time.sleep(0.05) or params["x"], 10_000, client, callback=close)
        closing.join()
        assert 3 <= study.n_finished < 10_000
        return
    pytest.fail("the study went on")


def test_a_study_takes_the_client_in_use_and_batches_depend_on_the_seed_alone(client):
    there, here = (Study(SPACE, "kriging", 3).run(lambda p: (p["x"] - 0.3) ** 2, 9, on, batch_size=3) for on in ("dask", None))
    assert [(t.params, t.value) for t in there.trials] == [(t.params, t.value) for t in here.trials]


def test_two_studies_share_a_cluster(client):
    studies = [Study(SPACE, "random", seed) for seed in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda study: study.run(lambda params: params["x"], 20, client), studies))
    assert [study.n_finished for study in studies] == [20, 20]


def test_an_objective_that_cannot_be_pickled_or_imported_by_the_workers_is_named(client, tmp_path, monkeypatch):
    lock = threading.Lock()
    with pytest.raises(ArgumentError, match="objective=.* cannot be pickled for Dask's workers: cannot pickle '_thread.lock'"):
        Study(SPACE, "random", 0).run(lambda params: lock, 5, client)
    (tmp_path / "only_here_and_not_there.py").write_text("def objective(params):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here_and_not_there

    with pytest.raises(WorkersError, match="workers cannot load the objective: .*No module named 'only_here_and_not_there'"):
        Study(SPACE, "random", 0).run(only_here_and_not_there.objective, 5, client)
