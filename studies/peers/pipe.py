"""An optimizer in an interpreter of its own: messages and answers are lines of JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from spotsvm.errors import DataError

#: characters at the end of what a process wrote as errors that a message shows
_SHOWN = 500


class Pipe:
    """A process that answers each message by a line; DataError if it cannot start or does not answer in JSON."""

    def __init__(self, command: Sequence[str]):
        self._command = list(command)
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=self._errors, encoding="utf-8", errors="replace"
            )
        except OSError as error:
            self._errors.close()
            raise DataError(f"{self._command[0]} cannot be started: {error.strerror or error}; name an interpreter") from error

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a message."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            answer = json.loads(line)
        except (OSError, ValueError) as error:
            raise DataError(self._ended(line)) from error
        if not isinstance(answer, dict):
            raise DataError(self._ended(line))
        return answer

    def _ended(self, line: str) -> str:
        self._errors.seek(0)
        said = self._errors.read().strip()[-_SHOWN:]
        what = f"answered {line.strip()[:_SHOWN]!r}, which is no answer" if line else "ended without an answer"
        return f"{' '.join(self._command)} {what}" + (f"; it wrote: {said}" if said else "")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
        except OSError:  # it has ended before it read the last message
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()
