import pytest

from spotsvm.study.workers.protocol import Here


def test_it_evaluates_one_trial_at_a_time_when_somebody_waits():
    seen = []
    with Here(lambda params: seen.append(params["x"]) or params["x"]) as workers:
        assert workers.n_workers == 1
        workers.submit(7, {"x": 1})
        workers.submit(3, {"x": 2})
        assert seen == []
        assert [(key, o.value) for key, o in workers.wait()] == [(7, 1.0)]
        assert seen == [1]
        assert [(key, o.value) for key, o in workers.wait()] == [(3, 2.0)]
        assert workers.wait() == []


def test_what_is_abandoned_is_not_evaluated():
    with Here(lambda params: 1 / 0) as workers:
        workers.submit(0, {})
        assert workers.abandon() == []
        assert workers.wait() == []


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit])
def test_leaving_is_no_failure(leave):
    def objective(params):
        raise leave

    with Here(objective) as workers:
        workers.submit(0, {})
        with pytest.raises(leave):
            workers.wait()
