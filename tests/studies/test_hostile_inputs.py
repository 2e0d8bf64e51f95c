"""Hostile inputs to every reader: an error of ours or a result, within its time."""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.errors import ArgumentError, DataError
from studies.hostile_inputs import READERS, Reader, read_input, run
from studies.hostile_values import changed_bytes, hostile_json

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder a reader, with what it needs before its first input."""
    made = {}

    def place(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp("reader")
            READERS[name].warm_up(made[name])
        return made[name]

    return place


@pytest.mark.filterwarnings("ignore")  # of pandas and of numpy on numbers as large as 1e308
@pytest.mark.parametrize("name", READERS)
def test_each_reader_takes_a_few_of_them_well(places, name):
    count = 4 if name.startswith("report") else 25
    kinds = [read_input(READERS[name], places(name), np.random.default_rng([1, k]))[0] for k in range(count)]
    assert [kind for kind in kinds if kind not in ("read", "refused")] == []


@pytest.mark.filterwarnings("ignore")
@given(seed=st.integers(0, 2**63), name=st.sampled_from(["kernel expression", "runs of a study", "table to tune on"]))
def test_any_seed(places, seed, name):
    assert read_input(READERS[name], places(name), np.random.default_rng(seed))[0] in ("read", "refused")


def test_the_same_seed_makes_the_same_input(tmp_path):
    def made(seed):
        return READERS["table to tune on"].make(tmp_path, np.random.default_rng(seed)).read_bytes()

    assert made(3) == made(3)
    assert len({made(seed) for seed in range(8)}) > 4


def test_what_no_reader_should_do_is_counted(tmp_path):
    def read(k):
        if k == 1:
            raise KeyError("a traceback")
        if k == 2:
            raise DataError("refused")

    numbers = iter(range(3))
    reader = Reader(lambda folder, rng: next(numbers), read)
    kinds = [read_input(reader, tmp_path, np.random.default_rng(0))[0] for _ in range(3)]
    assert kinds[0] == "read"
    assert kinds[1].startswith("KeyError: 'a traceback' (test_hostile_inputs.py, line ")
    assert kinds[2] == "refused"


class Reading:
    """In place of the process that reads: it stops answering at input 1, and dies at input 3."""

    def __init__(self, target, args, daemon):
        self.first, self.n, self.out = args[1], args[2], Connection(os.dup(args[4].fileno()), readable=False)

    def start(self):
        self.out.send("ready")
        for k in range(self.first, self.n):
            if k == 1:
                return
            if k == 3:
                break
            self.out.send((k, "read", 0.5))
        self.out.close()

    def kill(self):
        self.out.close()

    def join(self):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of another kind")
def test_an_input_that_hangs_or_kills_is_counted_and_the_rest_still_read(monkeypatch):
    context = SimpleNamespace(Pipe=multiprocessing.Pipe, Process=Reading)
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: context)
    row = run(5, readers=["kernel expression"], limit=0.2).iloc[0]
    assert (row.inputs, row["read"], row.hung, row.tracebacks) == (5, 3, 1, 1)
    assert row.first_failure == "input 1: hung"


def test_an_unknown_reader():
    with pytest.raises(ArgumentError, match="readers has 'other'; use some of record, bytes"):
        run(1, readers=["other"])


@given(st.binary(max_size=200), st.integers(0, 1000))
def test_changed_bytes_are_bytes_of_bounded_length(data, seed):
    changed = changed_bytes(np.random.default_rng(seed), data)
    assert isinstance(changed, bytes)
    assert len(changed) <= 2**20 * (len(data) + 1)


@given(st.integers(0, 10_000))
def test_hostile_json_is_text_whatever_it_is_made_of(seed):
    assert isinstance(hostile_json(np.random.default_rng(seed), '{"a": [1, {"b": null}], "c": "d"}'), str)
