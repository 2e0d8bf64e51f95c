"""Helpers of the tests of studies and workers."""


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def facts(study):
    """All that two studies of the same trials have in common: no times."""
    return [(t.number, t.params, t.point, t.state, t.values, t.extra, t.reason, t.origin, t.note, t.seed) for t in study.trials]


def all_completed(workers, n):
    """Wait for n trials; return (key, outcome) in the order of completion."""
    completed = []
    while len(completed) < n:
        completed += workers.wait()
    return completed


def evaluated(workers, *batch):
    """Submit a batch; return its outcomes in the order of the batch."""
    for key, params in enumerate(batch):
        workers.submit(key, params)
    completed = dict(all_completed(workers, len(batch)))
    return [completed[key] for key in range(len(batch))]


class Unloadable:
    """An objective that can be sent but not loaded."""

    def __reduce__(self):
        return exec, ("raise ImportError('no such library')",)

    def __call__(self, params):
        return 1.0
