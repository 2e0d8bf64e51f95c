"""Optimizers of other libraries by ask and tell, in this process or behind a pipe; imports nothing of spotsvm.

`python optimizers.py NAME` reads a message in JSON from each line of its input, and answers each by a line of JSON:
{"space": {...}} makes the optimizer, {"ask": true} is answered by {"params": {...}}, {"tell": VALUE, "constraints": [...]} takes
the value of the last suggestion, a list for several objectives, and numbers that must not be positive, and {"recommend": true} is
answered by the optimizer's own choice, or null. Each answer has the processor seconds.
"""

from __future__ import annotations

import json
import logging
import math
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: library of each optimizer: the module that is imported, and the distribution with its version
LIBRARIES = {
    "optuna": ("optuna", "optuna"),
    "scikit-optimize": ("skopt", "scikit-optimize"),
    "cobyqa": ("scipy", "scipy"),
    "pycma": ("cma", "cma"),
    "ax": ("ax", "ax-platform"),
    "hebo": ("hebo", "HEBO"),
    "smac": ("smac", "smac"),
    "smac_bb": ("smac", "smac"),
}


def decoded(parameter: Mapping[str, Any], u: float) -> Any:
    """Return the value of a parameter at a point of the unit interval."""
    u = min(max(float(u), 0.0), 1.0)
    if parameter["kind"] == "category":
        return parameter["values"][min(int(u * len(parameter["values"])), len(parameter["values"]) - 1)]
    low, high = parameter["low"], parameter["high"]
    if parameter["kind"] == "int":
        low, high = low - 0.5, high + 0.5 - 1e-9
    value = math.exp(math.log(low) + u * (math.log(high) - math.log(low))) if parameter["log"] else low + u * (high - low)
    return round(value) if parameter["kind"] == "int" else min(max(value, parameter["low"]), parameter["high"])


class Optimizer:
    """An optimizer of a space: `ask` for parameters, `tell` their value, and so on."""

    #: whether it minimises several objectives; it is then told a list
    several_objectives = False

    def __init__(self, space: Mapping[str, Any]):
        self.parameters, self.seed = space["parameters"], space["seed"]
        self.budget, self.noisy = space["budget"], space["noisy"]
        self.n_constraints, self.n_objectives = space["constraints"], space["objectives"]
        self._worst = -math.inf
        self.start()

    def start(self) -> None:
        """Make the optimizer."""
        raise NotImplementedError

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        raise NotImplementedError

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        raise NotImplementedError

    def tell_constrained(self, value: float, constraints: Sequence[float]) -> None:
        """Take the value of the last suggestion, and numbers that must not be positive: by a penalty, where the library has none.

        A point that violates one is as bad as the worst so far, plus the violations.
        """
        self._worst = max(self._worst, value)
        violated = sum(max(number, 0.0) for number in constraints)
        self.tell(self._worst + violated if violated else value)

    def recommend(self) -> Mapping[str, Any] | None:
        """Return the optimizer's own choice under noise; None for the best value."""
        return None

    def close(self) -> None:
        """End what still runs."""

    def at(self, point: Any) -> dict[str, Any]:
        """Return the parameters at a point of the unit cube."""
        return {one["name"]: decoded(one, u) for one, u in zip(self.parameters, point, strict=True)}


class Optuna(Optimizer):
    """Optuna's default sampler, TPE."""

    several_objectives = True

    def start(self) -> None:
        """Make the study."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        known = (lambda trial: trial.user_attrs["constraints"]) if self.n_constraints else None
        sampler = optuna.samplers.TPESampler(seed=self.seed, constraints_func=known)
        self._study = optuna.create_study(sampler=sampler, directions=["minimize"] * self.n_objectives)

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        self._trial = self._study.ask()
        return {one["name"]: self._suggested(one) for one in self.parameters}

    def _suggested(self, one: Mapping[str, Any]) -> Any:
        if one["kind"] == "category":
            return self._trial.suggest_categorical(one["name"], one["values"])
        suggest: Any = self._trial.suggest_int if one["kind"] == "int" else self._trial.suggest_float
        return suggest(one["name"], one["low"], one["high"], log=one["log"])

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        self._study.tell(self._trial, value)

    def tell_constrained(self, value: float, constraints: Sequence[float]) -> None:
        """Take the value and the numbers that must not be positive."""
        self._trial.set_user_attr("constraints", list(constraints))
        self._study.tell(self._trial, value)


class ScikitOptimize(Optimizer):
    """scikit-optimize's `Optimizer` with its defaults: a Gaussian process, ten initial points."""

    def start(self) -> None:
        """Make the optimizer."""
        from skopt import Optimizer as SkoptOptimizer
        from skopt.space import Categorical, Integer, Real

        def dimension(one: Mapping[str, Any]) -> Any:
            if one["kind"] == "category":
                return Categorical(one["values"])
            kind = Integer if one["kind"] == "int" else Real
            return kind(one["low"], one["high"], prior="log-uniform" if one["log"] else "uniform")

        self._optimizer = SkoptOptimizer([dimension(one) for one in self.parameters], random_state=self.seed)

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        self._point = self._optimizer.ask()
        return {one["name"]: value for one, value in zip(self.parameters, self._point, strict=True)}

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        self._optimizer.tell(self._point, value)


class Cobyqa(Optimizer):
    """COBYQA of scipy on the unit cube, from the centre, and from random points whenever it has converged."""

    def start(self) -> None:
        """Start the thread in which scipy calls the function."""
        import numpy as np
        from scipy.optimize import NonlinearConstraint, minimize

        self._rng, self._minimize = np.random.default_rng(self.seed), minimize
        self._constraints: Any = ()
        if self.n_constraints:
            self._constraints = NonlinearConstraint(lambda point: self._answered(point)[1], -np.inf, 0.0)
        self._last: tuple[list[float], Any] = ([], None)
        self._asked: queue.Queue[Any] = queue.Queue()
        self._told: queue.Queue[tuple[float, Sequence[float]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._minimise, daemon=True)
        self._thread.start()

    def _minimise(self) -> None:
        d = len(self.parameters)
        start: Any = [0.5] * d
        try:
            while True:
                self._minimize(
                    lambda point: self._answered(point)[0],
                    start,
                    method="COBYQA",
                    bounds=[(0.0, 1.0)] * d,
                    constraints=self._constraints,
                )
                start = self._rng.random(d)
        except Exception as error:  # it is raised where the next point is asked for
            self._asked.put(error)

    def _answered(self, point: Any) -> tuple[float, Sequence[float]]:
        """Return value and constraints: scipy asks for both at the same point, one after the other."""
        asked = list(map(float, point))
        if not (self.n_constraints and asked == self._last[0]):
            self._asked.put(asked)
            if (answer := self._told.get()) is None:
                raise RuntimeError("closed")
            self._last = asked, answer
        value, constraints = self._last[1]
        return value, constraints

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        point = self._asked.get()
        if isinstance(point, Exception):
            raise point
        return self.at(point)

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        self._told.put((value, []))

    def tell_constrained(self, value: float, constraints: Sequence[float]) -> None:
        """Take the value and the numbers that must not be positive."""
        self._told.put((value, list(constraints)))

    def close(self) -> None:
        """End the thread."""
        self._told.put(None)
        self._thread.join()


class Pycma(Optimizer):
    """CMA-ES of pycma on the unit cube, from the centre with a step of 0.25; restarts with twice as many points."""

    def start(self) -> None:
        """Make the strategy."""
        import numpy as np

        self._rng = np.random.default_rng(self.seed)
        self._population: int | None = None
        self._begin(np.full(len(self.parameters), 0.5))

    def _begin(self, start: Any) -> None:
        import cma

        options = {"bounds": [0.0, 1.0], "seed": self.seed + 1, "verbose": -9, "verb_log": 0}
        if self._population is not None:
            options["popsize"] = 2 * self._population
        self._strategy = cma.CMAEvolutionStrategy(start, 0.25, options)
        self._population = self._strategy.popsize
        self._points: list[Any] = []
        self._values: list[float] = []

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        if len(self._values) == len(self._points):
            if self._points:
                self._strategy.tell(self._points, self._values)
            if self._strategy.stop():
                self._begin(self._rng.random(len(self.parameters)))
            self._points, self._values = self._strategy.ask(), []
        return self.at(self._points[len(self._values)])

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        self._values.append(value)

    def recommend(self) -> Mapping[str, Any] | None:
        """Return the mean of the distribution."""
        favourite = self._strategy.result.xfavorite
        return None if favourite is None else self.at(favourite)


class Ax(Optimizer):
    """Ax with its default strategy: the centre, Sobol points, then BoTorch."""

    def start(self) -> None:
        """Make the client."""
        logging.disable(logging.WARNING)
        import torch
        from ax.api.client import Client
        from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self._client = Client(random_seed=self.seed)
        self._client.configure_experiment(
            [
                ChoiceParameterConfig(name=one["name"], values=one["values"], parameter_type="str", is_ordered=False)
                if one["kind"] == "category"
                else RangeParameterConfig(
                    name=one["name"],
                    bounds=(one["low"], one["high"]),
                    parameter_type=one["kind"],
                    scaling="log" if one["log"] else "linear",
                )
                for one in self.parameters
            ]
        )
        allowed = [f"constraint{k} <= 0" for k in range(self.n_constraints)]
        self._client.configure_optimization(objective="-value", outcome_constraints=allowed or None)

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        ((self._index, params),) = self._client.get_next_trials(max_trials=1).items()
        return dict(params)

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        self._client.complete_trial(self._index, raw_data={"value": value})

    def tell_constrained(self, value: float, constraints: Sequence[float]) -> None:
        """Take the value and the numbers that must not be positive."""
        numbers = {f"constraint{k}": number for k, number in enumerate(constraints)}
        self._client.complete_trial(self._index, raw_data={"value": value, **numbers})

    def recommend(self) -> Mapping[str, Any] | None:
        """Return the best parameters by the model."""
        return dict(self._client.get_best_parameterization(use_model_predictions=True)[0])


class Hebo(Optimizer):
    """HEBO with its defaults."""

    def start(self) -> None:
        """Make the optimizer."""
        import numpy as np
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        np.random.seed(self.seed)  # noqa: NPY002 - HEBO draws from it
        self._optimizer = HEBO(DesignSpace().parse([self._axis(one) for one in self.parameters]), scramble_seed=self.seed)

    @staticmethod
    def _axis(one: Mapping[str, Any]) -> dict[str, Any]:
        if one["kind"] == "category":
            return {"name": one["name"], "type": "cat", "categories": one["values"]}
        kind = {("float", False): "num", ("float", True): "pow", ("int", False): "int", ("int", True): "pow_int"}
        return {"name": one["name"], "type": kind[one["kind"], one["log"]], "lb": one["low"], "ub": one["high"]}

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        self._frame = self._optimizer.suggest(n_suggestions=1)
        return dict(self._frame.iloc[0])

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        import numpy as np

        self._optimizer.observe(self._frame, np.array([[value]]))


class Smac(Optimizer):
    """SMAC3 with the facade for hyperparameters, a random forest; it is told the budget, and whether there is noise."""

    facade = "HyperparameterOptimizationFacade"

    def start(self) -> None:
        """Make the facade."""
        import tempfile

        import ConfigSpace
        import smac

        space = ConfigSpace.ConfigurationSpace(seed=self.seed)
        space.add([self._axis(ConfigSpace, one) for one in self.parameters])
        self._folder = tempfile.TemporaryDirectory(prefix="peers-smac-")
        scenario = smac.Scenario(
            space, deterministic=not self.noisy, n_trials=self.budget, seed=self.seed, output_directory=self._folder.name
        )
        self._facade = getattr(smac, self.facade)(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=False)

    @staticmethod
    def _axis(library: Any, one: Mapping[str, Any]) -> Any:
        if one["kind"] == "category":
            return library.Categorical(one["name"], one["values"])
        kind = library.Integer if one["kind"] == "int" else library.Float
        return kind(one["name"], (one["low"], one["high"]), log=one["log"])

    def ask(self) -> Mapping[str, Any]:
        """Return the parameters to evaluate next."""
        self._info = self._facade.ask()
        return dict(self._info.config)

    def tell(self, value: float) -> None:
        """Take the value of the last suggestion."""
        from smac.runhistory.dataclasses import TrialValue

        self._facade.tell(self._info, TrialValue(cost=value, time=0.01))

    def recommend(self) -> Mapping[str, Any] | None:
        """Return the incumbent."""
        return dict(self._facade.intensifier.get_incumbent())

    def close(self) -> None:
        """Remove its folder."""
        self._folder.cleanup()


class SmacBlackBox(Smac):
    """SMAC3 with the facade for black boxes, a Gaussian process."""

    facade = "BlackBoxFacade"


OPTIMIZERS: dict[str, type[Optimizer]] = {
    "optuna": Optuna,
    "scikit-optimize": ScikitOptimize,
    "cobyqa": Cobyqa,
    "pycma": Pycma,
    "ax": Ax,
    "hebo": Hebo,
    "smac": Smac,
    "smac_bb": SmacBlackBox,
}


class Served:
    """An optimizer that answers messages."""

    def __init__(self, make: Callable[[Mapping[str, Any]], Optimizer]):
        self._make = make
        self._optimizer: Optimizer | None = None

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a message, with the processor seconds that it took, or with an error."""
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = self._answer(message)
        except Exception as error:  # whatever a library raises ends its run alone
            answer = {"error": f"{type(error).__name__}: {error}"}
        return answer | {"seconds": time.process_time() - began}

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if "space" in message:
            self.close()
            self._optimizer = self._make(message["space"])
            return {}
        assert self._optimizer is not None, "the first message has the space"
        if "ask" in message:
            return {"params": {name: _plain(value) for name, value in self._optimizer.ask().items()}}
        if "recommend" in message:
            chosen = self._optimizer.recommend()
            return {"params": chosen and {name: _plain(value) for name, value in chosen.items()}}
        if self._optimizer.n_constraints:
            self._optimizer.tell_constrained(message["tell"], message["constraints"])
        else:
            self._optimizer.tell(message["tell"])
        return {}

    def close(self) -> None:
        """End what still runs."""
        if self._optimizer is not None:
            self._optimizer.close()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def version(name: str) -> str | None:
    """Return the version of an optimizer's library, or None if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(LIBRARIES[name][1])
    except metadata.PackageNotFoundError:
        return None


def main(name: str) -> None:
    """Answer the messages of the input until it ends; {"version": true} is answered before there is a space."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not stand among the answers
    served = Served(OPTIMIZERS[name])
    for line in sys.stdin:
        message = json.loads(line)
        answer = {"version": version(name)} if "version" in message else served.answer(message)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    served.close()


if __name__ == "__main__":
    main(sys.argv[1])
