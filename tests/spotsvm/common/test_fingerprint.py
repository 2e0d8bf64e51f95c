import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from spotsvm.common.fingerprint import as_text, whole

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
