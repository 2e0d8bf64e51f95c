"""Workers of each kind keep the contract of `Workers`: those of an executor, of the killable pool, and of Dask."""

import os
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack

import loky
import numpy as np
import pytest
from completed_trials import Unloadable, all_completed, becomes, evaluated

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.executor import OnExecutor
from spotsvm.study.workers.killable_pool import KillablePool
from tests.spotsvm.study.workers.conftest import client, cluster

__all__ = ["client", "cluster"]  # fixtures
EXECUTORS = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor, "loky": loky.ProcessPoolExecutor}
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # Dask's


@pytest.fixture(params=[*EXECUTORS, "pool", "dask"])
def kind(request):
    return request.param


@pytest.fixture
def opened(kind, request):
    """Return a function that opens n workers of a kind, on one executor or cluster in a test."""
    executors = {}

    def open_workers(objective, n=2, **options):
        if kind == "pool":
            return KillablePool(objective, n, **options)
        if kind == "dask":
            from spotsvm.study.workers.on_dask import OnDask

            return OnDask(objective, request.getfixturevalue("client"), **options)
        if n not in executors:
            executors[n] = stack.enter_context(EXECUTORS[kind](n))
        return OnExecutor(objective, executors[n], n, **options)

    with ExitStack() as stack:
        yield open_workers


def test_outcomes_come_in_the_order_in_which_they_end(opened, kind, tmp_path):
    factor = np.array([2.0])

    def objective(params):
        assert params["x"] != 4 or becomes((tmp_path / "go").exists)
        return {"value": factor[0] * params["x"], "pid": os.getpid()}

    with opened(objective) as workers:
        assert workers.n_workers == (4 if kind == "dask" else 2)
        assert workers.wait() == []
        workers.submit(4, {"x": 4})
        workers.submit(7, {"x": 7})
        first = all_completed(workers, 1)
        began = time.monotonic()
        assert workers.wait(0.05) == []
        assert time.monotonic() - began < 60  # far less than the trial would wait
        (tmp_path / "go").touch()
        assert [(key, outcome.value) for key, outcome in first + workers.wait()] == [(7, 14.0), (4, 8.0)]
        assert first[0][1].seconds < 15
        outcomes = evaluated(workers, *({"x": x} for x in range(9)))
    assert [outcome.value for outcome in outcomes] == [2.0 * x for x in range(9)]
    pids = {outcome.extra["pid"] for outcome in outcomes}
    assert pids == {os.getpid()} if kind == "threads" else os.getpid() not in pids
    assert len(pids) <= (4 if kind == "dask" else 2)


def test_what_goes_wrong_in_a_trial_is_its_own(opened):
    class Own(Exception):
        def __reduce__(self):
            return exec, ("raise RuntimeError('unpickled')",)

    def objective(params):
        if (what := params["what"]) == "exit":
            sys.exit(3)
        if what in ("error", "own"):
            raise {"error": ValueError, "own": Own}[what]("too small\nby far")
        return {"text": "text", "nan": float("nan"), "value": {"value": params["array"].sum(), "time": 2}}[what]

    said = {
        "error": "ValueError: too small by far",
        "own": "Own: too small by far",
        "exit": "the objective left by sys.exit(3)",
        "text": "the objective returned 'text', which is not a number",
        "nan": "the objective returned nan",
    }
    with opened(objective) as workers:
        outcomes = evaluated(
            workers, *({"what": what, "array": np.arange(3.0), "pair": (1, None)} for what in ("value", *said, "value"))
        )
    assert [o.state for o in outcomes] == ["ok", *["failed"] * len(said), "ok"]
    assert all(o.reason.startswith(reason) for o, reason in zip(outcomes[1:], said.values(), strict=False))
    assert isinstance(outcomes[1].error, ValueError)
    assert (outcomes[-1].value, outcomes[-1].extra) == (3.0, {"time": 2.0})
    assert not any(o.lost for o in outcomes)


@pytest.mark.parametrize("kind", ["processes", "loky", "pool"])
def test_data_are_sent_once_to_each_process(opened, kind, tmp_path):
    def note(name):
        with (tmp_path / name).open("a") as log:
            log.write(f"{os.getpid()}\n")

    class Data:
        def __init__(self):
            self.rows = np.random.default_rng(0).random(1_000_000)

        def __getstate__(self):
            note("pickled")
            return {"rows": self.rows}

        def __setstate__(self, state):
            self.rows = state["rows"]
            note("loads")

    data = Data()

    def objective(params):
        time.sleep(0.05)
        return {"value": data.rows[params["x"]], "pid": os.getpid()}

    for _ in range(2):
        with opened(objective) as workers:
            outcomes = evaluated(workers, *({"x": x} for x in range(12)))
        assert [o.value for o in outcomes] == data.rows[:12].tolist()
        loads = list(map(int, (tmp_path / "loads").read_text().split()))
        assert {int(o.extra["pid"]) for o in outcomes} <= set(loads)
    assert (tmp_path / "pickled").read_text().split() == [str(os.getpid())] * 2
    assert len(loads) == len(set(loads)) <= (4 if kind == "pool" else 2)


@pytest.mark.parametrize("kind", [*EXECUTORS, "pool", "dask"])
def test_waiting_starting_and_loading_take_no_time_of_the_trial(opened):
    class LoadsSlowly:
        def __getstate__(self):
            return {"x": 1}

        def __setstate__(self, state):
            time.sleep(1.3)

        def __call__(self, params):
            time.sleep(0.05)
            return params["x"]

    with opened(LoadsSlowly(), 1, trial_timeout=1.2) as workers:
        assert [o.value for o in evaluated(workers, *({"x": x} for x in range(4)))] == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")
@pytest.mark.parametrize("kind", ["processes", "pool", "dask"])
def test_memory_is_limited_for_the_trial_alone(opened, kind):
    own = np.zeros(15_000_000)  # what a worker loads is its own

    def objective(params):
        held = np.ones(int(params["MB"] * 1e6 / 8))
        return {"value": held[0] + own[0], "pid": os.getpid()}

    with opened(objective, 1, memory_limit="150MB") as workers:
        outcomes = [evaluated(workers, {"MB": MB})[0] for MB in (100, 200, 100, 200, 100)]
    assert [o.state for o in outcomes] == ["ok", "failed", "ok", "failed", "ok"]
    assert outcomes[1].reason.startswith("it took more than memory_limit=150 MB: ")
    assert "MemoryError: Unable to allocate" in outcomes[1].reason
    assert not outcomes[1].lost
    assert kind == "dask" or len({o.extra["pid"] for o in outcomes if o.extra}) == 1
    with opened(objective, 1) as workers:
        assert evaluated(workers, {"MB": 200})[0].state == "ok"


@pytest.mark.parametrize("kind", ["threads", "pool", "dask"])
def test_what_is_abandoned_does_not_begin_and_what_has_ended_is_given(opened, kind, tmp_path, request):
    def objective(params):
        (tmp_path / f"began {params['x']}").touch()
        assert params["x"] == 0 or becomes((tmp_path / "go").exists)
        (tmp_path / f"ended {params['x']}").touch()
        return 1.0

    n = 4 if kind == "dask" else 3  # Dask has no more before it is waited for
    with opened(objective) as workers:
        for x in range(n + 6):
            workers.submit(x, {"x": x})
        assert becomes(lambda: len(list(tmp_path.glob("began *"))) >= n)
        time.sleep(0.3)
        given = [(key, outcome.value) for key, outcome in workers.abandon()]
        assert given == [(0, 1.0)] or (kind, given) == ("dask", [])
        assert workers.wait() == []
        if kind == "dask":  # the scheduler takes trials from the workers a little later
            client = request.getfixturevalue("client")
            assert becomes(lambda: not any(client.processing().values()))
            time.sleep(0.3)
        (tmp_path / "go").touch()
        time.sleep(0.3)
        if kind != "pool":
            assert evaluated(workers, {"x": 0})[0].state == "ok"
        else:
            with pytest.raises(WorkersError, match="the workers are closed; open new ones"):
                workers.submit(9, {})
    begun = len(list(tmp_path.glob("began *")))
    assert n <= begun <= (n + 2 if kind == "dask" else n)
    ended = 1 if kind == "pool" else begun  # the pool kills what runs
    assert becomes(lambda: len(list(tmp_path.glob("ended *"))) == ended)


@pytest.mark.parametrize("kind", ["processes", "pool"])
def test_an_objective_that_cannot_be_sent_or_loaded_is_named(opened, kind):
    lock, sent = threading.Lock(), "cannot be sent to a worker process: TypeError: cannot pickle '_thread.lock' object"
    with pytest.raises(ArgumentError, match=sent), opened(lambda params: lock) as workers:
        evaluated(workers, {})
    with opened(Unloadable()) as workers:
        workers.submit(0, {})
        for _ in range(2 if kind == "pool" else 1):
            with pytest.raises(ArgumentError, match="cannot be loaded in a worker process: ImportError: no such library"):
                workers.wait()
