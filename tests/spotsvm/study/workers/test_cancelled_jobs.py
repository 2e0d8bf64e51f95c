"""A run that ends cancels its jobs."""

from completed_trials import bowl

from spotsvm.study.workers.open import open_workers


def test_a_run_that_ends_cancels_its_jobs():
    class Endless:
        cancelled = False

        def submit(self, function, *args):
            return self

        def done(self):
            return False

        def cancel(self):
            self.cancelled = True

    jobs = Endless()
    with open_workers(bowl, jobs, n_jobs=1) as workers:
        workers.submit(0, {"x": 0.0, "y": 0.0})
        assert workers.wait(0.2) == []
    assert jobs.cancelled
