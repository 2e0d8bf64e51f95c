"""The folder of a tuning: its files change together, and a manifest tells whether they are of one run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from spotsvm.common.checkout import library_version
from spotsvm.common.new_files import PREFIX, check_replaceable, new_file, put_in_place
from spotsvm.errors import StorageError
from spotsvm.study.record.opening import WriterLock
from spotsvm.study.workers.protocol import interrupts_held

MANIFEST = "spotsvm_manifest.json"
_NEW = f"{PREFIX}results"


class ResultsFolder:
    """The folder of a tuning that is running, for one run at a time, until it is closed (else StorageError).

    Results are written to `new`, a folder inside, and `publish` moves them to their places; other files stay as they are.
    """

    def __init__(self, path: Path):
        self.path, self.new = path, path / _NEW
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(path / MANIFEST)
        except (OSError, StorageError) as error:
            raise cannot_write(path, error) from error
        try:
            _remove(self.new)  # of a run that was killed
            self.new.mkdir()
        except OSError as error:
            self.close()
            raise cannot_write(path, error) from error

    def publish(self) -> None:
        """Put the files in `new` in the places of older results; files of an older run that this one does not have are removed.

        The manifest comes first. From then on, until the last file is in its place, the folder is refused: a kill leaves the old
        results, the new ones, or what `check_results` recognises. OSError is raised if a file cannot be replaced.
        """
        names = sorted(file.name for file in self.new.iterdir())
        for name in names:
            check_replaceable(self.path / name)
        old, sums = _manifest(self.path) or {}, {name: _checksum(self.new / name) for name in names}
        with interrupts_held():
            with new_file(self.path / MANIFEST) as file:
                file.write_text(json.dumps({"spotsvm": library_version(), "files": sums}, indent=2) + "\n", encoding="utf-8")
            for name in names:
                put_in_place(self.new / name, self.path / name)
        for name in old.keys() - sums.keys():
            if _checksum(self.path / name) == old[name] != "":
                (self.path / name).unlink()

    def close(self) -> None:
        """Remove what was not published, and let other runs have the folder."""
        with suppress(OSError):
            _remove(self.new)
        self._lock.release()


def check_results(path: Path, use: str) -> None:
    """Raise StorageError if the files in a folder are not those that one run has written; `use` is the file that is wanted.

    A folder without a manifest, as of spotsvm 0.2.0 or with files that were copied there, is not checked.
    """
    if not (path / MANIFEST).exists():
        return
    sums = _manifest(path)
    wrong = [MANIFEST] if sums is None else sorted(name for name, its in sums.items() if _checksum(path / name) != its)
    if wrong:
        what = "is not as the run has written it" if (path / wrong[0]).exists() else "is missing"
        raise StorageError(
            f"{path} does not hold the results of one run: {wrong[0]} {what}, because the run was ended as it wrote its "
            f"files, or because they were changed since; tune again, or name {path / use} to use this file as it is"
        )


def cannot_write(path: Path, error: Exception) -> StorageError:
    """Return the error for a folder of results that cannot be written to."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return StorageError(f"--out {path}: cannot write to this folder: {getattr(cause, 'strerror', None) or cause}")


def _manifest(path: Path) -> Mapping[str, str] | None:
    """Return the checksum of each file of the results; None if there is no manifest, or it is damaged."""
    try:
        sums = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    whole = isinstance(sums, dict) and all(isinstance(its, str) and Path(name).name == name for name, its in sums.items())
    return sums if whole else None


def _checksum(file: Path) -> str:
    """Return the SHA-256 of a file's content; an empty text if it is none, or a link to one."""
    if file.is_symlink() or not file.is_file():
        return ""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
