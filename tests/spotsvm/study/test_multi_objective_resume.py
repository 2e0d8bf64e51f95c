import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Study

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
MIXED = [{"kernel": ["rbf"], "C": loguniform(1e-3, 1e3)}, {"kernel": ["poly", "linear"], "degree": randint(2, 9)}]
NAMED = {"cost": "minimize", "gain": "maximize"}


def trade(params):
    """More gain costs more; y is a waste."""
    return {"values": [params["x"] ** 2 + params["y"], params["x"] - params["y"]], "time": 3.0}


def mixed(params):
    x = params.get("C", 0.5) + params.get("degree", 0) + (0.3 if params["kernel"] == "linear" else 0.0)
    return [x, -((x - 2) ** 2)]


def half_fails(params):
    return trade(params) if params["x"] > 0.4 else None


def facts(study):
    return [(t.number, t.params, t.point, t.state, t.values, t.extra, t.reason, t.origin, t.note, t.seed) for t in study.trials]


def make(search, **options):
    return Study(SPACE, search, 7, direction=NAMED, **options)


class Own:
    """A search of a user's own, of as many coordinates as the domain has."""

    def __init__(self, domain):
        self.dimension, self.told = domain.dimension, []

    def ask(self):
        return np.random.default_rng(len(self.told)).random(self.dimension)

    def tell(self, point, values):
        self.told.append(values)


def own(domain, seed):
    return Own(domain)


CASES = {"plain": (SPACE, trade), "half fails": (SPACE, half_fails), "conditional": (MIXED, mixed)}


@pytest.mark.parametrize("search", ["nsga2", "parego", "random", "own"])
@pytest.mark.parametrize(("space", "objective"), CASES.values(), ids=CASES)
def test_resumed_is_undisturbed(search, space, objective, tmp_path):
    def fresh(path=None):
        made = own if search == "own" else search
        return Study(space, made, 7, direction=NAMED, path=path)

    stops = (8, 12, 16) if search == "parego" else (23, 30, 45)
    for n in stops:
        with fresh(tmp_path / "study.db") as study:
            study.run(objective, n)
    undisturbed = fresh().run(objective, stops[-1])
    assert facts(study) == facts(undisturbed)
    assert study.hypervolume().tolist() == undisturbed.hypervolume().tolist()


@pytest.mark.parametrize(("search", "stop", "n"), [("nsga2", 20, 42), ("nsga2", 22, 42), ("nsga2", 27, 42), ("parego", 11, 18)])
def test_batches_too_wherever_they_are_cut_off(search, stop, n, tmp_path):
    def cut(study, trial):
        if study.n_finished == stop:
            raise KeyboardInterrupt

    with make(search, path=tmp_path / "study.db") as study, pytest.raises(KeyboardInterrupt):
        study.run(trade, n, batch_size=6, callback=cut)
    with make(search, path=tmp_path / "study.db") as study:
        assert study.n_finished == stop
        study.run(trade, n, batch_size=6)
    assert facts(study) == facts(make(search).run(trade, n, batch_size=6))


SCRIPT = """
    import sys, time
    from scipy.stats import uniform
    from spotsvm import Study

    def trade(params):
        time.sleep(0.02)
        return {"values": [params["x"] ** 2 + params["y"], params["x"] - params["y"]], "time": 3.0}

    space = {"x": uniform(0, 1), "y": uniform(0, 1)}
    Study(space, sys.argv[2], 7, direction={"cost": "minimize", "gain": "maximize"}, path=sys.argv[1]).run(
        trade, int(sys.argv[3]), batch_size=3, callback=lambda s, t: print(t.number, *map(repr, t.values), flush=True)
    )
"""


@pytest.mark.parametrize(("search", "n"), [("nsga2", 60), ("parego", 24)])
def test_a_process_that_is_killed_loses_nothing_that_was_told(search, n, tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path / "study.db"), search, str(n)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline().split() for _ in range(n // 2)]
        process.send_signal(signal.SIGKILL)
        told += [line.split() for line in process.stdout.read().splitlines()]
    assert process.returncode == -signal.SIGKILL
    with make(search, path=tmp_path / "study.db") as study:
        assert n // 2 <= study.n_finished < n
        assert all(study.trials[int(number)].values == (float(cost), float(gain)) for number, cost, gain in told)
        study.run(trade, n, batch_size=3)
    assert facts(study) == facts(make(search).run(trade, n, batch_size=3))
