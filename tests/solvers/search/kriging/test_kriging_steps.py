"""What a Kriging search does step by step, on responses of every kind."""

import json
from functools import partial

import numpy as np
import pytest

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.searches import Domain, KrigingSearch
from spotsvm.solvers.search.checks import RESPONSES, replayed, run


@pytest.mark.parametrize(
    ("noise", "response", "replicates"), [("auto", "bowl", [6]), (False, "bowl", []), ("auto", "plateau", [6, 20])]
)
def test_a_deterministic_response_is_found_out_by_one_replicate_and_ties_by_two(noise, response, replicates):
    suggestions = run(KrigingSearch(Domain.continuous(2), noise=noise), RESPONSES[response], 25)
    assert [k for k, s in enumerate(suggestions) if s.origin == "replicate"] == replicates


def test_under_noise_the_best_points_are_repeated():
    search = KrigingSearch(Domain.continuous(2), noise=True, repeat_below=0.5)
    suggestions = run(search, RESPONSES["noisy"], 40)
    repeats = [s.point for s in suggestions if s.origin == "replicate"]
    assert len(repeats) >= 5
    near = [((p - 0.3) ** 2).sum() for p in repeats]
    assert np.median(near) < 0.2
    counts = np.unique(search.points, axis=0, return_counts=True)[1]
    assert counts.max() >= 3
    without = run(KrigingSearch(Domain.continuous(2), noise=True, repeat_below=0), RESPONSES["noisy"], 20)
    assert "replicate" not in {s.origin for s in without}
    batch = KrigingSearch(Domain.continuous(2), noise=True, repeat_below=1e9)
    run(batch, RESPONSES["noisy"], 12)
    pending = [batch.ask() for _ in range(8)]
    assert len({tuple(s.point) for s in pending}) == 8
    assert [s.origin for s in pending].count("replicate") >= 5


def test_it_says_what_it_does_when_there_is_nothing_to_model():
    failed = run(KrigingSearch(Domain.continuous(2)), RESPONSES["all fail"], 9)
    assert failed[8].note == "no evaluation has succeeded yet"
    constant = run(KrigingSearch(Domain.continuous(2)), RESPONSES["constant"], 30)
    assert "all responses are equal: exploring" in constant[20].note
    points = np.array([s.point for s in constant if s.origin == "improvement"])
    distances = np.linalg.norm(points[:, None] - points, axis=2) + np.eye(len(points))
    assert distances.min() > 0.02


def test_a_model_that_fails_leaves_a_random_point(monkeypatch, caplog):
    search = KrigingSearch(Domain.continuous(2), noise=False)
    run(search, RESPONSES["bowl"], 6)

    def fail(*arguments, **options):
        raise NotPositiveDefiniteError("will not factor")

    monkeypatch.setattr(search._model.ensemble, "fit", fail)
    suggestion = search.ask()
    assert (suggestion.origin, suggestion.note) == ("random", "the model failed: will not factor")
    assert "suggestion 6 is random" in caplog.text


@pytest.mark.parametrize(("q", "response"), [(8, "half fails"), (40, "noisy")])
def test_no_point_is_pending_twice(q, response):
    search = KrigingSearch(Domain.continuous(2), seed=2)
    waiting = []
    rng = np.random.default_rng(0)
    for k in range(60):
        waiting.append(search.ask().point)
        assert len({p.tobytes() for p in search.pending}) == len(search.pending) == len(waiting)
        if len(waiting) == q:
            search.tell(waiting.pop(int(rng.integers(q))), RESPONSES[response](waiting[0], k))


def test_where_nothing_was_told_the_fit_is_used_again(monkeypatch):
    search = KrigingSearch(Domain.continuous(2), noise=False)
    run(search, RESPONSES["bowl"], 12)
    fits = []
    fit = search._model.ensemble.fit
    monkeypatch.setattr(search._model.ensemble, "fit", lambda *a, **k: fits.append(k["sweeps"]) or fit(*a, **k))
    batch = [search.ask().point for _ in range(20)]
    assert fits == [1]
    search.tell(batch[0], 1.0)
    search.ask()
    search.tell(batch[1], 1.0)
    search.ask()
    assert fits == [1, 0, 2]  # with 19 and more pending, the chains move with every second value, once for each
    for point in batch[2:]:
        search.tell(point, 1.0)
    search.ask()
    assert fits[3:] == [4]  # and four times at most
    assert len({p.tobytes() for p in batch}) == 20


@pytest.mark.parametrize(("stop", "noise"), [(23, False), (31, True)])
def test_a_search_with_pending_points_goes_on_as_if_nothing_had_happened(stop, noise):
    """It is cut off after any event: just told, or amid several asks; more is told than its model sees."""

    def live(search, events, points):
        for what, k in events:
            if what == "ask":
                points[k] = search.ask().point
            else:
                search.tell(points[k], RESPONSES["noisy" if noise else "bowl"](points[k], k))

    events = [("ask", k) for k in range(20)]
    for k in range(0, 12, 3):
        events += [("tell", k), ("tell", k + 2), ("ask", 20 + k), ("ask", 21 + k), ("tell", k + 1), ("ask", 22 + k)]
    make = partial(KrigingSearch, Domain.continuous(2), 4, noise=noise, max_points=20)
    whole, points = make(), {}
    live(whole, events, points)
    first, again = make(), {}
    live(first, events[:stop], again)
    resumed = make()
    for what, k in events[:stop]:
        if what == "ask":
            resumed.assume(again[k])
        else:
            resumed.tell(again[k], RESPONSES["noisy" if noise else "bowl"](again[k], k))
    resumed.restore(json.loads(json.dumps(first.state())))
    live(resumed, events[stop:], again)
    assert all(np.array_equal(points[k], again[k]) for k in points)


def test_a_state_without_the_time_of_the_last_move_is_taken_back():
    """As records of earlier versions have it."""
    search = KrigingSearch(Domain.continuous(2), noise=False)
    run(search, RESPONSES["bowl"], 10)
    state = {"chains": search.state()["chains"]}
    other = replayed(KrigingSearch(Domain.continuous(2), noise=False), search.points, search.values, state)
    assert np.array_equal(other.ask().point, search.ask().point)


def test_more_points_than_the_model_sees():
    search = KrigingSearch(Domain.continuous(2), seed=1, max_points=20)
    suggestions = run(search, RESPONSES["a region fails"], 60)
    assert len(search._fitted.fit.points) <= 21  # one of them twice, to find out about noise
    assert np.nanmin(search.values) < 1e-4
    once = [tuple(s.point) for s in suggestions if s.origin != "replicate"]
    assert len(set(once)) == len(once)
    assert "evaluations failed and are avoided" in suggestions[-1].note
    assert np.mean([s.point[0] > 0.5 for s in suggestions[30:]]) < 0.3
