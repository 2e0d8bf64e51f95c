from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.preprocessing import FunctionTransformer

from spotsvm.common.fingerprint import as_text, content_hash, whole

HOURS = pd.date_range("1987-03-29", periods=3000, freq="h")
FRAME = pd.DataFrame({"rain": np.arange(3000.0), "word": "dry"}, index=HOURS)


def changed(what, place, value):
    other = what.copy()
    other.iloc[place] = value
    return other


LISTS = pd.DataFrame({"cell": [[k] for k in range(100)]})


@pytest.mark.parametrize(
    ("given", "other"),
    [
        (FRAME, changed(FRAME, (1500, 0), 7.0)),
        (FRAME, changed(FRAME, (1500, 1), "wet")),
        (FRAME, FRAME.rename(columns={"rain": "snow"})),
        (FRAME, FRAME.set_axis(HOURS[:1500].append(HOURS[1500:] + pd.Timedelta("1h")))),
        (FRAME["rain"], changed(FRAME["rain"], 1500, 7.0)),
        (FRAME["rain"], FRAME["rain"].rename("snow")),
        (HOURS, HOURS[:1500].append(HOURS[1500:] + pd.Timedelta("1h"))),
        (LISTS, LISTS.assign(cell=[[k + (k == 50)] for k in range(100)])),
        (csr_array(np.eye(500)), csr_array(np.eye(500) + np.eye(500, k=250))),
    ],
)
@pytest.mark.parametrize("inside", [lambda value: value, lambda value: {"history": [1, (value,)]}])
def test_a_change_in_the_middle_is_seen(given, other, inside):
    assert as_text(whole(inside(given))) == as_text(whole(inside(given.copy())))
    assert as_text(whole(inside(given))) != as_text(whole(inside(other)))


def test_the_layout_of_a_frame_does_not_matter():
    built = pd.DataFrame(index=HOURS)
    for name in FRAME:
        built[name] = FRAME[name]
    assert whole(built) == whole(FRAME) == whole(FRAME.set_axis(pd.DatetimeIndex(HOURS.to_numpy())))


def test_what_has_a_whole_text_stays_as_it_is():
    for value in (1.5, "rbf", None, {"a": [1, (2,)]}):
        assert whole(value) == value


def shifted(by, times=1):
    def shift(X, floor=0.0):
        """Return X moved."""
        return np.maximum(times * X + by, floor)

    return shift


def also_shifted(by, times=1):
    def shift(X, floor=0.0):
        """Return X moved; this docstring is another one."""
        return np.maximum(times * X + by, floor)

    return shift


def other_code(by, times=1):
    def shift(X, floor=0.0):
        return np.maximum(times * X - by, floor)

    return shift


def other_default(by, times=1):
    def shift(X, floor=1.0):
        return np.maximum(times * X + by, floor)

    return shift


def other_constant(by, times=1):
    def shift(X, floor=0.0):
        return np.maximum(times * X + by + 1, floor)

    return shift


def named_alike(maker, *arguments):
    function = maker(*arguments)
    function.__qualname__ = "shift"
    return function


@pytest.mark.parametrize(
    "inside", [lambda f: f, lambda f: FunctionTransformer(f), lambda f: partial(f, floor=2.0), lambda f: {"own": make_scorer(f)}]
)
def test_functions_count_by_code_constants_defaults_and_closures(inside):
    def texts(*given):
        value = inside(named_alike(*given))
        return content_hash(value), as_text(whole(value.get_params() if hasattr(value, "get_params") else value))

    same = texts(shifted, 1.0)
    assert texts(shifted, 1.0) == same == texts(also_shifted, 1.0)
    others = [(shifted, 2.0), (shifted, 1.0, 3), (other_code, 1.0), (other_default, 1.0), (other_constant, 1.0)]
    for place in (0, 1):
        assert len({texts(*other)[place] for other in others} | {same[place]}) == len(others) + 1


def test_functions_of_packages_count_by_name():
    assert whole(accuracy_score) is accuracy_score
    calls = make_scorer(accuracy_score)
    assert whole(calls) is calls
