"""Who takes part: searches of this library, and optimizers of other libraries, here or in an interpreter of their own."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any, Protocol, cast

from spotsvm.common.checkout import library_version
from spotsvm.errors import ArgumentError, DataError, SpotSVMError
from spotsvm.solvers.search.registry import needs_several_objectives
from spotsvm.studies.peers import optimizers
from spotsvm.studies.peers.optimizers import LIBRARIES, OPTIMIZERS, Served
from spotsvm.studies.peers.pipe import Pipe
from spotsvm.studies.peers.problems import Problem
from spotsvm.study.study import Study


class RunFailed(Exception):
    """An optimizer raised an error, which ends its run; the runs of others go on."""


class Opened(Protocol):
    """An optimizer of one run: each call also returns the processor seconds that it took."""

    def ask(self) -> tuple[Mapping[str, Any], float]:
        """Return the parameters to evaluate next."""

    def tell(self, value: Any, constraints: Sequence[float]) -> float:
        """Take the value of the last suggestion, a list for several objectives, and numbers that must not be positive."""

    def recommend(self) -> Mapping[str, Any] | None:
        """Return the optimizer's own choice, or None if it has none."""


class Entrant(Protocol):
    """What takes part under a name."""

    def takes(self, n_objectives: int) -> bool:
        """Return whether problems with so many objectives are among those that it minimises."""

    @property
    def version(self) -> str:
        """Library and version."""

    def opened(self, problem: Problem, seed: int, budget: int) -> AbstractContextManager[Opened]:
        """Make the optimizer of a problem."""


_ANY_NUMBER = ("random", "lhs")


class _OpenSearch:
    def __init__(self, study: Study):
        self._study = study

    def ask(self) -> tuple[Mapping[str, Any], float]:
        began = process_time()
        self._trial = _of_library(self._study.ask)
        return self._trial.params, process_time() - began

    def tell(self, value: Any, constraints: Sequence[float]) -> float:
        began = process_time()
        told: Any = {"value": value, **{_constraint(k): number for k, number in enumerate(constraints)}} if constraints else value
        _of_library(lambda: self._study.tell(self._trial, told))
        return process_time() - began

    def recommend(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", _of_library(self._study.recommend).params)


def _constraint(k: int) -> str:
    return f"constraint{k}"


def _of_library(call: Any) -> Any:
    try:
        return call()
    except SpotSVMError as error:
        raise RunFailed(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class Search:
    """A search of this library, as `Study` takes it."""

    search: Any

    def takes(self, n_objectives: int) -> bool:
        """Return whether the search has so many objectives."""
        several = needs_several_objectives(self.search)
        return several or self.search in _ANY_NUMBER if n_objectives > 1 else not several

    @property
    def version(self) -> str:
        """The version of this library."""
        return f"spotsvm {library_version()}"

    @contextmanager
    def opened(self, problem: Problem, seed: int, budget: int) -> Iterator[Opened]:
        """Make a study of a problem."""
        bounds = {_constraint(k): ("<=", 0.0) for k in range(problem.n_constraints)}
        direction: Any = "minimize" if problem.n_objectives == 1 else ["minimize"] * problem.n_objectives
        with Study(problem.space(), self.search, seed, direction=direction, constraints=bounds or None) as study:
            yield _OpenSearch(study)


class _OpenPeer:
    def __init__(self, served: Served | Pipe, space: Mapping[str, Any]):
        self._served = served
        self._answer({"space": space})

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = self._served.answer(message)
        except DataError as error:  # the process has died
            raise RunFailed(str(error)) from error
        if "error" in answer:
            raise RunFailed(answer["error"])
        return answer

    def ask(self) -> tuple[Mapping[str, Any], float]:
        answer = self._answer({"ask": True})
        return answer["params"], answer["seconds"]

    def tell(self, value: Any, constraints: Sequence[float]) -> float:
        return float(self._answer({"tell": value, "constraints": list(constraints)})["seconds"])

    def recommend(self) -> Mapping[str, Any] | None:
        return cast("Mapping[str, Any] | None", self._answer({"recommend": True})["params"])


@dataclass(frozen=True)
class Peer:
    """An optimizer of another library, by its name; `interpreter` runs it in place of this process."""

    name: str
    interpreter: str | None = None
    version: str = ""

    def takes(self, n_objectives: int) -> bool:
        """Return whether the optimizer has so many objectives."""
        return n_objectives == 1 or OPTIMIZERS[self.name].several_objectives

    @contextmanager
    def opened(self, problem: Problem, seed: int, budget: int) -> Iterator[Opened]:
        """Make the optimizer of a problem."""
        space = problem.described(seed, budget)
        if self.interpreter is None:
            with closing(Served(OPTIMIZERS[self.name])) as served:
                yield _OpenPeer(served, space)
        else:
            with _kept_pipe(self.interpreter, self.name) as pipe:
                yield _OpenPeer(pipe, space)


#: processes between two runs: to import a library takes many times as long as some runs
_KEPT: dict[tuple[str, str], list[Pipe]] = {}


@contextmanager
def _kept_pipe(interpreter: str, name: str) -> Iterator[Pipe]:
    """Take a process that has ended its run, or start one; it is kept unless the run fails."""
    kept = _KEPT.setdefault((interpreter, name), [])
    pipe = kept.pop() if kept else Pipe([interpreter, optimizers.__file__, name])
    try:
        yield pipe
    except BaseException:
        pipe.close()
        raise
    kept.append(pipe)


@atexit.register
def close_pipes() -> None:
    """End the processes of all optimizers."""
    for pipes in _KEPT.values():
        while pipes:
            pipes.pop().close()


def installed_peers(names: tuple[str, ...], interpreters: Mapping[str, str]) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the optimizers that are installed, with their versions, and why the others are left out.

    ArgumentError if an interpreter that was named lacks its library.
    """
    peers, left_out = {}, {}
    for name in names:
        interpreter = interpreters.get(name)
        library = LIBRARIES[name][1]
        if interpreter is None:
            version = optimizers.version(name)
        else:
            with _kept_pipe(interpreter, name) as pipe:
                version = pipe.answer({"version": True}).get("version")
            if version is None:
                raise ArgumentError(f"interpreters: {interpreter} has no {library}, which {name!r} needs; install it there")
        if version is None:
            left_out[name] = f"{library} is not installed; install it, or name an interpreter that has it by --interpreters"
        else:
            peers[name] = Peer(name, interpreter, f"{library} {version}")
    return peers, left_out
