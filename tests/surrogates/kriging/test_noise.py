import numpy as np
import pytest

from spotsvm.surrogates.kriging.noise import judge_noise, needs_second_look


@pytest.mark.parametrize(
    ("points", "values", "verdict"),
    [
        ([0.1], [1.0], "unknown"),
        ([0.1, 0.2, 0.3], [1.0, 1.0, 2.0], "unknown"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0], "deterministic"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0 + 1e-15], "noisy"),
        ([0.1, 0.2, 0.1, 0.1], [1.0, 5.0, 1.0, 1.1], "noisy"),
    ],
)
def test_verdict(points, values, verdict):
    assert judge_noise(np.array(points)[:, None], np.array(values)) == verdict


def test_ties_ask_for_a_second_look():
    points = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1])[:, None]
    assert not needs_second_look(points, np.array([1.0, 2.0, 3.0, 4.0, 9.0, 1.0]))
    assert needs_second_look(points, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0]))
    assert not needs_second_look(points, np.array([1.0, 9.0, 9.0, 9.0, 9.0, 1.0]))
    again = np.append(points, [[0.2]], axis=0)
    assert not needs_second_look(again, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0, 1.0]))
