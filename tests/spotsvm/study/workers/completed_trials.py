"""Helpers of the tests of workers: submit trials and wait until they are completed."""


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
