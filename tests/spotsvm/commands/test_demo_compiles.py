"""The first command of a fresh installation compiles few functions, and none of ours for two kinds of arguments."""

import json
import os
import subprocess
import sys

SCRIPT = """
import json
from click.testing import CliRunner
from numba.core import event
from importlib.metadata import entry_points

class Names(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        compiled.append(f"{function.__module__}.{function.__qualname__}")

    def on_end(self, event):
        pass

compiled = []
event.register("numba:compile", Names())
main = next(iter(entry_points(group="console_scripts", name="spotsvm"))).load()
done = CliRunner().invoke(main, ["demo", "--cv", "2", "--no-compare"])
assert done.exit_code == 0, done.output
print(json.dumps(compiled))
"""
#: 107 before some was left to numpy, and each array had one layout; a call of numba's linear algebra is 20 functions
MOST = 35


def test_the_demo_compiles_few_functions_and_each_once(tmp_path):
    # without optimisation, which changes no count and takes longest
    settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    compiled = json.loads(done.stdout)
    ours = [name for name in compiled if name.startswith("spotsvm.")]
    assert len(ours) == len({*ours}) > 10
    assert len(compiled) <= MOST, compiled
