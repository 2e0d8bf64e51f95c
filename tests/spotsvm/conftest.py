import os
import sys
import textwrap
from html import escape
from pathlib import Path

import pytest

from spotsvm.cross_validation.shared_scores import SharedScores


def described(figure, name, alt):
    """Return an empty picture with its description."""
    return f'<svg role="img" aria-label="{escape(alt)}"></svg>'


@pytest.fixture
def no_pictures(monkeypatch):
    """Leaves the pictures of pages out, for tests of other things: drawing takes most of the time of a page."""
    monkeypatch.setattr("spotsvm.reports.html.page.inline_svg", described)


@pytest.fixture(scope="module")
def no_pictures_here():
    """Leaves them out in all tests of a module, and in its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spotsvm.reports.html.page.inline_svg", described)
        yield


@pytest.fixture
def counted(monkeypatch):
    """Counts the candidates that shared work has scored, so that a test knows which way the numbers came."""
    done = []
    scores = SharedScores.scores

    def count(self, candidates):
        found = scores(self, candidates)
        done.extend(candidates[k] for k, one in found.items() if not one.out_of_time)
        return found

    monkeypatch.setattr(SharedScores, "scores", count)
    return done


class HeldWorker:
    """Worker processes of one name wait at the start of their interpreter, before any import, until they are let go."""

    _HOOK = """
        import os, sys, time

        if os.environ["HELD_WORKER"] in sys.orig_argv:
            open(os.environ["HELD_FOLDER"] + "/held", "w").close()
            while not os.path.exists(os.environ["HELD_FOLDER"] + "/go"):
                time.sleep(0.01)
    """

    def __init__(self, folder, name):
        self.folder = folder
        (folder / "sitecustomize.py").write_text(textwrap.dedent(self._HOOK))
        self.environment = os.environ | {"HELD_WORKER": name, "HELD_FOLDER": str(folder)}
        self.environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])

    def is_there(self):
        return Path(self.folder, "held").exists()

    def let_go(self):
        Path(self.folder, "go").touch()


@pytest.fixture
def worker_held_at_import(tmp_path_factory):
    """Returns a function that takes the name of worker processes, and returns a `HeldWorker` for the environment of a process."""
    held = []

    def hold(name):
        held.append(HeldWorker(tmp_path_factory.mktemp("held"), name))
        return held[-1]

    yield hold
    for one in held:
        one.let_go()
