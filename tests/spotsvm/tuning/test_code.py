import importlib
import io
import re
from contextlib import contextmanager, redirect_stdout

import numpy as np
import pandas as pd

N = 90


@contextmanager
def quiet(name, budget):
    yield None


def write(folder):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=N).round(4), "b": rng.normal(size=N).round(4), "person": np.arange(N) // 3})
    frame["town"] = rng.choice(["Ulm", "Bonn", "Rom"], N)
    frame["kind"] = np.where(frame["a"] * frame["b"] + 0.3 * rng.normal(size=N) > 0, "y", "n")
    frame.to_csv(folder / "t.csv", sep=";", index=False)
    return folder / "t.csv"


def executed(code):
    """Run the code as it stands, and return its variables; what it imports of spotsvm must be public."""
    for module, names in re.findall(r"^from (spotsvm\S*) import (.*)$", code, flags=re.M):
        assert module in ("spotsvm", "spotsvm.tables")
        assert set(names.split(", ")) <= set(importlib.import_module(module).__all__)
    found = {}
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "repeat.py", "exec"), found)
    return found, out.getvalue()
