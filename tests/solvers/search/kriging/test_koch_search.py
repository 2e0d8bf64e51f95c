from functools import partial

import numpy as np
import pytest

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.searches import Coordinate, Domain, KochSearch, KrigingSearch
from spotsvm.solvers.search.checks import RESPONSES, run
from spotsvm.solvers.search.registry import make_search

SQUARE = Domain.continuous(2)
#: the rule of repeats without the paper's model
quick = partial(KochSearch, SQUARE, n_initial=5)


def test_an_exhausted_space_is_evaluated_again_unless_a_point_has_a_largest_number_of_evaluations():
    domain = Domain((Coordinate(levels=3), Coordinate(levels=2, categorical=True)))
    search = KochSearch(domain, noise=True, n_initial=6, max_repeats=2)
    assert len(run(search, RESPONSES["noisy"], 12)) == 12
    with pytest.raises(SearchExhaustedError, match="all 6 configurations"):
        search.ask()
    search = KochSearch(domain, noise=True, n_initial=6, n_members=2)
    assert [s.origin for s in run(search, RESPONSES["noisy"], 40)[-20:]] == ["replicate"] * 20


def repeats_of(suggestions):
    """How often each point was suggested, in the order of the points."""
    keys = [tuple(s.point) for s in suggestions]
    return [keys.count(key) for key in dict.fromkeys(keys)]


def test_the_points_are_repeated_as_algorithm_1_says():
    """The best once more, then a new point as often as that makes it; OCBA left out."""
    search = quick(noise=True, spread=0)
    suggestions = run(search, RESPONSES["bowl"], 5 * 2 + (1 + 3) + (1 + 4) + (1 + 5))
    design, rest = suggestions[:10], suggestions[10:]
    assert [s.origin for s in design] == ["design"] * 5 + ["replicate"] * 5
    assert repeats_of(design) == [2] * 5
    for k in (3, 4, 5):
        best, new, rest = rest[0], rest[1 : 1 + k], rest[1 + k :]
        assert (best.origin, [s.origin for s in new]) == ("replicate", ["improvement"] + ["replicate"] * (k - 1))
        assert repeats_of(new) == [k]
        before = suggestions[: len(suggestions) - len(rest) - k - 1]
        assert tuple(best.point) == tuple(min(before, key=lambda s: ((s.point - 0.3) ** 2).sum()).point)
        assert [s.note for s in new[1:]] == [f"evaluation {i} of {k}" for i in range(2, k + 1)]
    assert rest == []


def test_under_noise_evaluations_are_repeated():
    """The review's case: 30 evaluations were of 30 points."""
    search = make_search("koch2011", SQUARE, 0, noise=True)
    suggestions = run(search, RESPONSES["noisy"], 30)
    counts = repeats_of(suggestions)
    assert len(counts) < 15
    assert min(counts[:-1]) >= 2
    mean = {tuple(p): search.values[(search.points == p).all(axis=1)].mean() for p in search.points}
    assert max(counts) == repeats_of(suggestions)[list(mean).index(min(mean, key=mean.get))]


def test_further_repeats_are_spread_by_ocba():
    notes = [s.note for s in run(quick(noise=True, spread=2), RESPONSES["noisy"], 30)]
    first = notes.index("evaluation 3 of the best")
    assert notes[first + 1 : first + 3] == ["to tell the best points apart"] * 2
    assert "to tell the best points apart" not in [s.note for s in run(quick(noise=True, spread=0), RESPONSES["noisy"], 30)]
    # without any scatter there is nothing to tell apart
    assert "to tell the best points apart" not in [s.note for s in run(quick(noise=True, spread=2), RESPONSES["bowl"], 20)]


@pytest.mark.parametrize("most", [2, 3])
def test_no_point_is_evaluated_more_often_than_allowed(most):
    """With two, as in the paper's section 3.2.2, every point is evaluated twice."""
    counts = repeats_of(run(quick(noise=True, max_repeats=most, spread=2), RESPONSES["noisy"], 18))
    assert max(counts) == most
    assert most == 3 or counts == [2] * 9


NO_REPEATS = {"repeats": 1, "max_repeats": 1}


@pytest.mark.parametrize(
    ("noise", "response", "options"),
    [
        ("auto", "plateau", {}),
        (False, "half fails", {}),
        (True, "noisy", NO_REPEATS),  # as in the acid study, whose values are means of two evaluations
    ],
)
def test_without_noise_or_without_repeats_it_is_the_kriging_search(noise, response, options):
    ours = run(quick(seed=3, noise=noise, **options), RESPONSES[response], 14)
    theirs = run(KrigingSearch(SQUARE, 3, noise=noise, n_initial=5, repeat_below=0.0), RESPONSES[response], 14)
    assert all(np.array_equal(a.point, b.point) for a, b in zip(ours, theirs, strict=True))
    assert [s.origin for s in ours] == [s.origin for s in theirs]


def test_noise_that_is_found_out_has_the_design_repeated():
    suggestions = run(quick(), RESPONSES["noisy"], 12)
    assert [s.origin for s in suggestions[:10]] == ["design"] * 5 + ["replicate"] * 5
    assert repeats_of(suggestions[:10]) == [2] * 5
    assert suggestions[5].note == "to find out whether the objective is noisy"


def test_a_point_that_fails_is_not_repeated():
    search = quick(noise=True)
    suggestions = run(search, RESPONSES["a region fails"], 25)
    once = [s for s in suggestions if s.point[0] > 0.5]
    assert once
    assert all(s.origin != "replicate" for s in once)
    assert "replicate" not in {s.origin for s in run(quick(noise=True), RESPONSES["all fail"], 9)}


def test_what_the_design_costs_is_known_where_noise_is():
    assert [make_search("koch2011", SQUARE, 0, noise=noise).capabilities.n_initial for noise in (True, "auto", False)] == [
        20,
        10,
        10,
    ]
    assert KochSearch(SQUARE, noise=True, **NO_REPEATS).capabilities.n_initial == 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"repeats": 0}, "repeats=0 leaves the design without"),
        ({"max_repeats": 1}, "max_repeats=1 is below repeats=2"),
        ({"spread": -1}, "spread=-1 is negative"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(arguments, said):
    with pytest.raises(SolverError, match=said):
        KochSearch(SQUARE, **arguments)


SAMPLED = {"noise": True, "repeats": 1, "spread": 0, "n_sampled": 50, "n_new": 3}


def test_algorithm_1_as_printed_takes_the_best_predictions_of_a_random_sample():
    """In each iteration the best once more, then d new points of the same sample and model, each as often as the best."""
    search = quick(**SAMPLED)
    suggestions = run(search, RESPONSES["bowl"], 5 + (1 + 3 * 2) + (1 + 3 * 3))
    first, second = suggestions[5:12], suggestions[12:]
    assert [s.origin for s in first] == ["replicate"] + ["improvement", "replicate"] * 3
    assert [s.origin for s in second] == ["replicate"] + ["improvement", "replicate", "replicate"] * 3
    for k, iteration in enumerate((first, second)):
        sample = np.random.default_rng([0, 17, k]).random((50, 2))
        new = [s.point for s in iteration if s.origin == "improvement"]
        places = [int(np.flatnonzero((sample == point).all(axis=1))[0]) for point in new]
        assert len(set(places)) == 3
        # the bowl is smooth: what is predicted as best is among the best
        true = ((sample - 0.3) ** 2).sum(axis=1)
        assert max(true[places]) < np.quantile(true, 0.5)


def test_a_resume_within_an_iteration_chooses_the_same_points():
    whole = run(quick(**SAMPLED), RESPONSES["bowl"], 5 + 7 + 4)
    again = quick(**SAMPLED)
    for suggestion in whole[:-3]:  # one new point of the second iteration is known
        again.assume(suggestion.point)
        again.tell(suggestion.point, float(((suggestion.point - 0.3) ** 2).sum()))
    rest = run(again, RESPONSES["bowl"], 3)
    for one, other in zip(rest, whole[-3:], strict=True):
        np.testing.assert_array_equal(one.point, other.point)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_new": 2}, "n_new=2 with n_sampled=None; several new points are chosen from n_sampled random ones"),
        ({"n_new": 0, "n_sampled": 5}, "n_new=0 with n_sampled=5"),
        ({"n_new": 3, "n_sampled": 2}, "n_sampled=2 is below n_new=3; use many more, such as 1000"),
    ],
)
def test_numbers_of_new_points_that_make_no_sense(settings, message):
    with pytest.raises(SolverError, match=message):
        quick(**settings)
