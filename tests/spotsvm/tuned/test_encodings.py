"""The ways in which a table becomes numbers, and the choice among them by out-of-fold rows."""

import numpy as np
import pandas as pd
import pytest

from spotsvm import TunedSVC, TunedSVR
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.encodings import CODES, CYCLES, LEVELS, STANDARD, Encoding, encodings_of
from spotsvm.tuned.sweeps import Sweep

RNG = np.random.default_rng(0)
N = 240
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(50, 20, N),
        "code": RNG.integers(1, 6, N),
        "hour": np.arange(N) % 24,
        "town": RNG.choice([f"town {k}" for k in range(9)], N, p=[0.3, 0.3, *[0.4 / 7] * 7]),
        "sex": RNG.choice(["f", "m"], N),
    }
)
SQUARED = ["squared_rbf", "squared_laplacian"]


def test_a_table_allows_what_its_columns_allow():
    found = encodings_of(TABLE, ())
    assert list(found) == [STANDARD, LEVELS, CODES, CYCLES]
    assert found[CODES].codes == ("code",)
    assert found[CYCLES].cycles == {"hour": 24}
    assert list(encodings_of(TABLE, ["code"])) == [STANDARD, LEVELS, CYCLES]
    assert list(encodings_of(TABLE[["size", "sex"]], ())) == [STANDARD]
    gappy = TABLE.assign(code=TABLE["code"].where(np.arange(N) % 7 > 0), hour=TABLE["hour"] + 0.5)
    assert list(encodings_of(gappy, ())) == [STANDARD, LEVELS, CODES]
    array = encodings_of(TABLE[["size", "code"]].to_numpy(), ())
    assert array[CODES].codes == ("x1",)
    many = pd.DataFrame(RNG.integers(10, size=(N, 40)))
    assert list(encodings_of(many.add_prefix("c"), ())) == [STANDARD]  # 400 columns


@pytest.mark.parametrize(
    ("first", "last", "period"), [(0, 6, 7), (1, 7, 7), (1, 12, 12), (0, 23, 24), (0, 59, 60), (1, 31, 0), (2, 8, 0)]
)
def test_periods(first, last, period):
    values = first + np.arange(300) % (last - first + 1)
    found = encodings_of(pd.DataFrame({"day": values, "x": RNG.normal(size=300)}), ())
    assert (found[CYCLES].cycles["day"] if CYCLES in found else 0) == period


def test_levels_stay_as_encoded_and_hours_are_on_a_circle():
    columns = Columns(("standard", "power", "relevance"), (), encodings_of(TABLE, ())).fit(TABLE, TABLE[["size"]].to_numpy())
    views = columns.transform(TABLE)
    towns = views[LEVELS]["standard"][:, -9:]
    assert set(np.unique(towns)) == {0.0, 1.0}
    assert views[STANDARD]["standard"][:, -9:].std(axis=0) == pytest.approx(1)
    assert set(np.unique(views[LEVELS]["power"][:, -9:])) == {0.0, 1.0}
    assert views[LEVELS]["standard"][:, :-9] == pytest.approx(views[STANDARD]["standard"][:, :-9])
    numbers = columns.numbers[CYCLES]
    here, there = numbers.names.index("hour"), numbers.names.index("hour_sine")
    E = columns.encoder.transform(TABLE)
    circle = numbers.of(E)[:, [here, there]]
    assert circle[7] == pytest.approx([np.cos(7 * np.pi / 12), np.sin(7 * np.pi / 12)])
    codes = columns.numbers[CODES]
    places = [codes.names.index(f"code_{k}") for k in range(1, 6)]
    assert (codes.of(E)[:, places] == pd.get_dummies(TABLE["code"]).to_numpy()).all()
    assert "code" not in codes.names
    assert codes.is_kept[places].all()
    assert set(codes.sources[places]) == {1}
    sweep = Sweep("squared_rbf", 0.0, column_factors=(1.0, 1.0, 3.0, 1.0, 1.0), encoding=CYCLES)
    scaled, plain = columns.kernel_columns(views, sweep), views[CYCLES]["standard"]
    assert scaled[:, [here, there]] == pytest.approx(3.0 * plain[:, [here, there]])
    assert scaled[:, 0] == pytest.approx(plain[:, 0])


def test_an_encoding_that_differs_in_nothing_is_not_computed_again():
    columns = Columns(("standard",), (), {LEVELS: Encoding()}).fit(TABLE[["size", "sex"]], TABLE[["size"]].to_numpy())
    views = columns.transform(TABLE[["size", "sex"]])
    assert views[LEVELS] is views[STANDARD]


def weight(model, name):
    members = model.members_
    return members.loc[members["encoding"] == name, "weight"].sum()


def test_codes_are_found_and_told():
    y = np.isin(TABLE["code"], [1, 4]) ^ (TABLE["size"] > 70)
    X = TABLE[["size", "code"]]
    model = TunedSVC(families=SQUARED, random_state=0).fit(X, y)
    assert weight(model, CODES) > 0.5
    text = " ".join(model.methods_section().paragraphs)
    assert (
        f"in members with {100 * weight(model, CODES):.0f} % of the weight whole numbers of few different values (`code`)" in text
    )
    as_array = TunedSVC(families=SQUARED, random_state=0).fit(X.to_numpy(), y)
    assert (as_array.predict(X.to_numpy()) == model.predict(X)).all()
    plain = TunedSVC(families=["rbf", "laplacian"], random_state=0).fit(X, y)
    assert set(plain.settings_["encoding"]) == {STANDARD}
    assert model.expected_score_.value > plain.expected_score_.value


def test_hours_are_found_in_a_search_with_a_record(tmp_path):
    hour = RNG.integers(24, size=N)
    X = TABLE[["size"]].assign(hour=hour)
    y = np.cos(2 * np.pi * hour / 24) + 0.2 * RNG.normal(size=N)
    given = {"families": SQUARED, "budget": 22, "random_state": 0, "cv": 3}
    model = TunedSVR(**given, path=tmp_path / "record.db").fit(X, y)
    assert weight(model, CYCLES) > 0.5
    again = TunedSVR(**given, path=tmp_path / "record.db").fit(X, y)
    assert again.predict(X) == pytest.approx(model.predict(X))
    assert len(again.settings_) == len(model.settings_)
