import numpy as np
import pytest
from pymoo.indicators.hv import HV

from spotsvm.searches import Coordinate, Domain
from spotsvm.solvers.search.multi_objective.front_improvement import REFERENCE, FrontImprovement, Scale
from spotsvm.solvers.search.multi_objective.front_model import FrontModels
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble


def fitted(m, *, warped, noisy=False, n=14, d=2, held=None, ends=(0.1, 0.9)):
    """Return points, models of m bowls, and the criterion."""
    rng = np.random.default_rng(m)
    domain, points = Domain.continuous(d), rng.random((n, d))
    values = np.column_stack([((points - centre) ** 2).sum(axis=1) for centre in np.linspace(*ends, m)])
    values = values + 0.05 * rng.normal(size=values.shape) if noisy else values
    models = [KrigingEnsemble(domain, warped=warped).fit(points, column, rng) for column in values.T]
    front = FrontModels.of(models, ["reinterpolation" if noisy else "plain"] * m, held)
    return points, front, FrontImprovement(domain, front.models, front.scale, front.criteria, held=held)


def drawn(front, known, inputs, n_draws=20_000, reference=(REFERENCE, REFERENCE, REFERENCE)):
    """Return the mean hypervolume that draws of the predicted objectives add to the front, over the members."""
    rng, total = np.random.default_rng(0), np.zeros(len(inputs))
    m, k = len(front.models), len(front.models[0].members)
    for t in range(k):
        columns, levels = [], []
        for one, low, span in zip(front.models, front.scale.low, front.scale.span, strict=True):
            member = one.members[t]
            process = member.process if front.criteria[0] == "plain" else member.process.reinterpolate()
            mean, variance = process.predict(one.embedding.transform(inputs))
            z = mean + np.sqrt(variance) * rng.normal(size=(n_draws, len(inputs)))
            columns.append((member.warp.low + one.unit * member.backward(z) - low) / span)
            at = member.response.mean if front.criteria[0] == "plain" else process.fitted
            levels.append((member.warp.low + one.unit * member.backward(at) - low) / span)
        volume, old = HV(ref_point=np.array(reference[:m])), np.column_stack(levels)[known]
        before = volume(old)
        for b in range(len(inputs)):
            draws = (
                np.column_stack([column[:300, b] for column in columns]) if m > 2 else np.column_stack([c[:, b] for c in columns])
            )
            total[b] += np.mean(
                added(draws, old, *reference[:2]) if m == 2 else [volume(np.vstack([old, one])) - before for one in draws]
            )
    return total / k


def added(draws, old, right, top):
    """Return the area that each of many points adds to a front, up to a reference."""
    order = np.argsort(old[:, 0])
    x, y = old[order, 0], np.minimum.accumulate(old[order, 1])
    ends, tops = np.append(x, right), np.append(top, np.minimum(y, top))
    starts = np.append(-np.inf, x)
    width = np.maximum(np.minimum(ends, right) - np.maximum(starts, draws[:, [0]]), 0.0)
    return (width * np.maximum(tops - draws[:, [1]], 0.0)).sum(axis=1)


@pytest.mark.parametrize(("m", "warped", "noisy"), [(2, False, False), (2, False, True), (3, False, False)])
def test_the_gain_is_the_mean_over_draws_of_the_models(m, warped, noisy):
    _, front, criterion = fitted(m, warped=warped, noisy=noisy)
    inputs = np.random.default_rng(5).random((6, 2))
    known = np.ones(len(front.means), dtype=bool)
    found, expected = criterion.gain(inputs), drawn(front, known, inputs)
    np.testing.assert_allclose(found, expected, rtol=0.05 if m == 2 else 0.25, atol=2e-4)
    np.testing.assert_allclose(criterion.value(inputs), np.log(found))


def test_a_warp_is_followed_from_level_to_level():
    _, front, criterion = fitted(2, warped=True, n=25)
    inputs = np.random.default_rng(6).random((8, 2))
    expected = drawn(front, np.ones(len(front.means), dtype=bool), inputs)
    found = criterion.gain(inputs)
    np.testing.assert_allclose(found, expected, rtol=0.35, atol=1e-3)
    assert np.argmax(found) == np.argmax(expected)


def test_better_ends_of_the_front_count_up_to_the_worst_values():
    _, front, criterion = fitted(2, warped=False, ends=(0.4, 0.6))
    inputs = np.random.default_rng(5).random((6, 2))
    known, far = np.ones(len(front.means), dtype=bool), np.maximum(front.means.max(axis=0), REFERENCE)
    assert (far > REFERENCE).all()
    found = criterion.extending().gain(inputs)
    np.testing.assert_allclose(found, drawn(front, known, inputs, reference=tuple(far)), rtol=0.05, atol=2e-4)
    assert (found >= criterion.gain(inputs) * (1 - 1e-9)).all()
    assert (found > 1.5 * criterion.gain(inputs)).any()


def test_pending_points_are_believed_to_give_their_predictions():
    _, _, criterion = fitted(2, warped=False)
    at = np.array([[0.45, 0.47]])
    before, after = criterion.gain(at), criterion.believe(at).gain(at)
    assert after < 0.1 * before
    others = np.random.default_rng(0).random((200, 2))
    assert (criterion.believe(at).gain(others) <= 1.01 * criterion.gain(others) + 1e-9).all()


def test_only_points_where_the_bounds_hold_are_on_the_front():
    points, _, _ = fitted(2, warped=False)
    held = points[:, 0] > 0.5
    _, front, criterion = fitted(2, warped=False, held=held)
    assert held[front.front].all()
    inputs = np.random.default_rng(5).random((6, 2))
    np.testing.assert_allclose(criterion.gain(inputs), drawn(front, held, inputs), rtol=0.05, atol=2e-4)


def test_a_single_best_point_has_a_unit():
    domain = Domain((Coordinate(levels=5),))
    points = domain.snap(np.linspace(0, 1, 5)[:, None])
    models = [KrigingEnsemble(domain).fit(points, np.arange(5.0) ** k, np.random.default_rng(0)) for k in (1, 2)]
    front = FrontModels.of(models, ["plain"] * 2)
    assert isinstance(front.scale, Scale)
    assert (front.scale.span > 0).all()
    assert front.front.tolist() == [0]
    assert np.argmin(front.mean_evaluated()) == 0
