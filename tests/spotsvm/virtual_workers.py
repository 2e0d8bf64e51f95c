"""Workers in a time of their own: what they evaluate ends in the order that its durations say."""

from contextlib import AbstractContextManager

from spotsvm.evaluation import call


class VirtualWorkers(AbstractContextManager):
    """Evaluates at once, and gives the outcomes when their virtual time has come."""

    def __init__(self, objective, n_workers, duration=lambda params: 1.0):
        self.n_workers, self._objective, self._duration = n_workers, objective, duration
        self.now, self.busy, self.running, self.submitted, self.most = 0.0, 0.0, {}, [], 0

    def submit(self, key, params):
        self.submitted.append(key)
        self.running[key] = self.now + self._duration(params), params
        self.busy += self._duration(params)
        self.most = max(self.most, len(self.running))

    def wait(self, timeout=None):
        if timeout == 0 or not self.running:
            return []
        self.now = min(end for end, _ in self.running.values())
        ended = [(key, call(self._objective, params)) for key, (end, params) in self.running.items() if end == self.now]
        for key, _ in ended:
            del self.running[key]
        return ended

    def abandon(self):
        self.running.clear()
        return []

    def __exit__(self, *details):
        self.running.clear()
