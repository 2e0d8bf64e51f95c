import numpy as np
import pytest

from spotsvm.studies.equal_time.estimates.choices import (
    COARSE,
    GRID,
    best,
    confirmed,
    learn,
    one_standard_error,
    smoothed,
)
from spotsvm.studies.equal_time.estimates.policies import Policy
from spotsvm.studies.equal_time.estimates.tables import Table, at


def table_of(seed=0):
    """Return a table in which the error of a setting is that on new rows and noise."""
    rng = np.random.default_rng(seed)
    new = rng.uniform(10, 40, 310)
    errors, losses = (new[:, None] + noise * rng.standard_normal((310, 8)) for noise in (2.0, 1.0))
    return Table(errors, losses, np.full((310, 8), 1.5), rng.uniform(0.1, 0.3, (310, 2)), new)


def test_the_best_of_the_first_are_confirmed():
    values = np.array([[1.0, 9.0], [2.0, 3.0], [3.0, 0.0], [9.0, 0.0]])
    assert best(values[:, :1], np.arange(4)).tolist() == [0]
    assert confirmed(values, np.arange(4), 2, 2).tolist() == [1]
    assert confirmed(values, np.arange(4), 3, 2).tolist() == [2]
    assert (len(COARSE), len(GRID)) == (30, 209)


def test_one_standard_error_takes_the_smallest_cost_then_gamma():
    table = table_of()
    table.errors[GRID, 0] = 20.0
    table.errors[at(3, 5), 0] = 10.0
    table.errors[at([2, 4], 7), 0] = 11.0
    assert one_standard_error(table, GRID).tolist() == at(3, 5).tolist()
    table.errors[at([2, 6], 4), 0] = 11.5
    table.errors[at(1, 3), 0] = 11.6
    assert one_standard_error(table, GRID).tolist() == at(2, 4).tolist()


def test_gammas_are_learned_greedily():
    surfaces = np.full((3, 19, 11), 20.0)
    surfaces[0, 4, 2] = surfaces[1, 4, 2] = 11.0  # one gamma that helps two sets, and one that helps the third more
    surfaces[2, 9, 6] = -5.0
    surfaces[1, 6, 3] = 0.0  # a C that is not on the coarse path
    experience = learn(list(surfaces.reshape(3, -1)), 3)
    assert experience.gammas[:2] == (9, 4)
    assert len(set(experience.gammas)) == 3
    assert experience.mean.sum() == pytest.approx(0)


def test_the_prior_smooths():
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((209, 6))
    prior = learn([30 + factor @ rng.standard_normal(6) for _ in range(40)], 2)
    truth = factor @ rng.standard_normal(6)
    truth -= truth.mean()
    for noise, most in ((1e-3, 1.05), (2.0, 0.8)):
        errors = truth[:, None] + noise * rng.standard_normal((209, 2))
        errors -= errors.mean()
        guessed, plain = smoothed(30 + errors, prior)[:, 0], errors.mean(axis=1)
        assert np.abs(guessed - truth).mean() < most * np.abs(plain - truth).mean()


def plainly(policy, table, gammas):
    """Return what a policy chooses and its time, setting by setting."""
    value = [table.errors[s, : policy.partitions] + policy.weight * table.losses[s, : policy.partitions] for s in range(310)]
    paths = {g: [1 + 11 * g + c for c in range(0, 11, policy.step)] for g in gammas[: policy.looks]}
    known = [s for path in paths.values() for s in path]
    time, settings, factor = table.units[0, 0] + sum(table.units[s, 0] for s in known), known, 1.0
    if policy.contenders and policy.partitions > 1:
        tops = sorted((min(path, key=lambda s: value[s][0]) for path in paths.values()), key=lambda s: value[s][0])
        settings, factor = [], 1.2
        for top in tops[: policy.contenders]:
            g, c = divmod(top - 1, 11)
            settings += [1 + 11 * g + near for near in (c - 1, c, c + 1) if 0 <= near < 11]
        time += factor * sum(table.units[s, 0] for s in settings if s not in known)
    time += (policy.partitions - 1) * (table.units[0, 1] + factor * sum(table.units[s, 1] for s in settings))
    return min([0, *settings], key=lambda s: value[s].mean()), time


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (Policy(8, 2, 6), "8 gamma x 6 C, the best 3 gamma x 3 C on 6 partitions"),
        (Policy(4, 1, 1, weight=0.0), "4 gamma x 11 C, error alone"),
        (Policy(5, 1, 3, 1), "5 gamma x 11 C, the best 1 gamma x 3 C on 3 partitions"),
        (Policy(3, 2, 4, contenders=None), "3 gamma x 6 C, each on 4 partitions"),
    ],
)
def test_a_policy_spends_as_it_says(policy, name):
    assert str(policy) == name
    for seed in range(8):
        table, gammas = table_of(seed), np.random.default_rng(seed).permutation(19)[:8].tolist()
        settings, time = policy.spend(table, gammas)
        expected, theirs = plainly(policy, table, gammas)
        assert settings.tolist() == [expected]
        assert time == pytest.approx(theirs)
