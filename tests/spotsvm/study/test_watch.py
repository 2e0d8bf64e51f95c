"""`spotsvm report --watch` writes the page of a running study anew, and the open page loads itself again and keeps its place."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from click.testing import CliRunner
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.commands.main import main
from spotsvm.errors import StorageError
from spotsvm.reports.report import study_page
from spotsvm.study import watch as module
from spotsvm.study.recorded import RecordedStudy
from spotsvm.study.watch import watch
from tests.spotsvm.reports.pages import check_page
from tests.spotsvm.reports.test_browser import BROWSER, FLAGS

RUN = """
    import sys, time
    from pathlib import Path
    from spotsvm import Study

    folder = Path(sys.argv[1])

    def objective(p, trial):
        while len(list(folder.glob("go-*"))) * 2 <= trial.number and not (folder / "end").exists():
            time.sleep(0.02)
        return (p["x"] - 0.3) ** 2

    if __name__ == "__main__":
        study = Study({"x": (0.0, 1.0), "y": (0.0, 1.0)}, "random", seed=0, path=folder / "run.db", noise=False)
        study.run(objective, n_trials=6, n_jobs=2)
"""


class Browser:
    """A browser with one page, which is driven by Chromium's protocol on two pipes."""

    def __init__(self, profile):
        read, self._out = os.pipe()
        self._in, write = os.pipe()
        options = [*FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        command = f"exec {shlex.join([BROWSER, *options])} 3<&{read} 4>&{write}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(["bash", "-c", command], pass_fds=(read, write), **quiet)
        os.close(read)
        os.close(write)
        self._buffer, self._number, self._session = b"", 0, {}

    def send(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._session}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                chunk = os.read(self._in, 1 << 16)
                assert chunk, "the browser has ended"
                self._buffer += chunk
            text, self._buffer = self._buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self._number:
                return answer.get("result")

    def open(self, address):
        target = self.send("Target.createTarget", url=address)["targetId"]
        self._session = {"sessionId": self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}

    def value(self, expression):
        """Return what an expression of the page gives; None if the page is being loaded."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        return None if found is None else found["result"].get("value")

    def becomes(self, condition, seconds=100):
        end = time.monotonic() + seconds
        while self.value(condition) is not True:
            assert time.monotonic() < end, (condition, self.value("document.body.outerHTML.slice(0, 300)"))
            time.sleep(0.05)

    def close(self):
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait(timeout=60)


def shown(text):
    """The number of finished trials on a page."""
    return int(re.search(r"<dt>Trials</dt><dd>(\d+)", text)[1])


@pytest.fixture
def running(tmp_path):
    """A study with two workers in another process, whose trials wait until they are let go."""
    (tmp_path / "run.py").write_text(textwrap.dedent(RUN))
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py"), str(tmp_path)])
    yield tmp_path, process
    (tmp_path / "end").touch()
    process.wait(timeout=120)


def test_a_page_follows_a_study_with_two_workers(running, monkeypatch):
    """In a browser, if there is one, the open page loads itself again, and keeps its section and what is open."""
    folder, process = running
    monkeypatch.setattr(module, "_RELOAD", 0.5)
    page, seen, said, allowed, failed = folder / "page.html", [], [], [0], []

    def sleep(seconds):
        seen.append(page.read_text(encoding="utf-8") if page.exists() else "")
        done = len(list(folder.glob("go-*")))
        if done < allowed[-1] and seen[-1] and shown(seen[-1]) == 2 * done:
            (folder / f"go-{done}").touch()
        time.sleep(0.05)

    def follow():
        try:
            watch(folder / "run.db", page, say=said.append, sleep=sleep)
        except BaseException as error:
            failed.append(error)
            raise

    while not (folder / "run.db").exists():
        assert process.poll() is None
        time.sleep(0.05)
    watching = threading.Thread(target=follow)
    watching.start()
    try:
        while not page.exists():
            assert not failed
            time.sleep(0.05)
        if BROWSER is not None:
            _follow_in_a_browser(page, allowed)
    finally:
        allowed.append(9)
        watching.join(120)
    assert not watching.is_alive()
    assert not failed
    seen = [text for text in seen if text]
    counts = [shown(text) for text in seen]
    assert counts == sorted(counts)
    assert {0, 2, 4} <= set(counts)
    assert all('data-reload="0.5"' in text and "The study is running. This page is of" in text for text in seen)
    check_page(seen[-1])
    final = page.read_text(encoding="utf-8")
    assert final == study_page(RecordedStudy(folder / "run.db")).html()
    assert "data-reload" not in final
    assert shown(final) == 6
    assert said[-1].endswith("the page is complete: ended")


def _follow_in_a_browser(page, allowed):
    profile, last = page.parent / "profile", "document.querySelector('main > section:last-child h2')"
    facts, folded = "document.querySelector('.facts').textContent", "document.querySelectorAll('details')[0].open"
    browser = Browser(profile)
    try:
        browser.open(page.as_uri())
        browser.becomes("document.body && document.body.dataset.reload === '0.5' && document.readyState === 'complete'")
        before = browser.value(facts)
        allowed.append(1)
        browser.becomes(
            f"document.readyState === 'complete' && {facts} !== {before!r} && document.querySelector('details') !== null"
        )
        moved = f"{folded} = true, {last}.scrollIntoView(), scrollBy(0, 40), window.loadedBefore = true"
        browser.becomes(f"document.readyState === 'complete' && ({moved})")
        browser.becomes("window.loadedBefore !== true && document.readyState === 'complete'")
        allowed.append(9)
        browser.becomes("document.body.dataset.reload === undefined && document.readyState === 'complete'")
        assert re.search(r"Trials\s*6", browser.value(facts))
        assert browser.value(folded)
        assert browser.value(f"{last}.getBoundingClientRect().top") < 100
        assert browser.value("scrollY") > 200
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)


def test_a_study_that_has_ended_is_written_once(tmp_path):
    Study({"x": uniform(0, 1)}, "random", 0, path=tmp_path / "a.db").run(lambda p: p["x"], n_trials=4).close()
    done = CliRunner().invoke(main, ["report", str(tmp_path / "a.db"), "--out", str(tmp_path / "a.html"), "--watch"])
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == f"wrote {tmp_path / 'a.html'}: 4 finished trials"
    assert "data-reload" not in (tmp_path / "a.html").read_text()


def test_an_interrupted_watch_leaves_a_page_that_stays(tmp_path):
    study = Study({"x": uniform(0, 1)}, "random", 0, path=tmp_path / "a.db").run(lambda p: p["x"], n_trials=4)
    texts = []

    def interrupted(seconds):
        texts.append((tmp_path / "a.html").read_text())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch(tmp_path / "a.db", tmp_path / "a.html", sleep=interrupted)
    assert "data-reload" in texts[0]
    assert "data-reload" not in (tmp_path / "a.html").read_text()
    study.close()
    with pytest.raises(StorageError):
        watch(tmp_path / "none.db", tmp_path / "a.html")
