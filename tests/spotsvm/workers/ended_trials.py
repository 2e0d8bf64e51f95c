"""What the tests of workers share: hand trials over, and wait until they have ended."""


def all_ended(workers, n):
    """Wait until so many trials have ended; give (key, outcome) in the order in which they did."""
    ended = []
    while len(ended) < n:
        ended += workers.wait()
    return ended


def evaluated(workers, *batch):
    """Hand over a batch; give the outcomes by key."""
    for key, params in enumerate(batch):
        workers.submit(key, params)
    ended = dict(all_ended(workers, len(batch)))
    return [ended[key] for key in range(len(batch))]


class Unloadable:
    """An objective that can be sent, and fails to be loaded."""

    def __reduce__(self):
        return exec, ("raise ImportError('no such library')",)

    def __call__(self, params):
        return 1.0
