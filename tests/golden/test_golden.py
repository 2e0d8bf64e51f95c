"""Small runs give what they gave: designs exactly, learned values within a tolerance that holds on every processor."""

import json

import numpy as np
import pytest

from tests.golden import runs

RECORDED = json.loads(runs.RECORDED.read_text(encoding="utf-8"))


def test_every_run_is_recorded():
    assert RECORDED.keys() == runs.RUNS.keys()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", runs.RUNS)
def test_a_run_gives_what_was_recorded(name):
    found, recorded = runs.plain(runs.RUNS[name]()), RECORDED[name]
    assert len(found["design"]) == len(recorded["design"])
    for point, known in zip(found["design"], recorded["design"], strict=True):
        assert point.keys() == known.keys()
        assert all(_is_equal(point[key], known[key]) for key in known)
    assert found["learned"].keys() == recorded["learned"].keys()
    for key, known in recorded["learned"].items():
        _check_close(found["learned"][key], known)


def _is_equal(value, known):
    """Return whether parameters are equal up to the digits that are recorded."""
    return value == (pytest.approx(known, rel=1e-8, nan_ok=True) if isinstance(known, float) else known)


def _check_close(found, known):
    """Compare numbers within 0.02 or 5 %, and answers of all rows by their correlation."""
    assert (found is None) == (known is None)
    if known is None:
        return
    values, other = np.array(found, dtype=float), np.array(known, dtype=float)
    assert values.shape == other.shape
    np.testing.assert_array_equal(np.isfinite(values), np.isfinite(other))
    values, other = values[np.isfinite(other)], other[np.isfinite(other)]
    if len(values) < 20:  # estimates
        np.testing.assert_allclose(values, other, rtol=0.05, atol=0.02)
    else:
        assert np.corrcoef(values, other)[0, 1] > 0.98
        assert abs(values.std() / other.std() - 1) < 0.2
