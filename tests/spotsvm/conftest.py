from html import escape

import pytest

from spotsvm.cross_validation.shared_folds import SharedScores


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
    score = SharedScores.score

    def count(self, params, *args):
        numbers = score(self, params, *args)
        done.append(params)
        return numbers

    monkeypatch.setattr(SharedScores, "score", count)
    return done
