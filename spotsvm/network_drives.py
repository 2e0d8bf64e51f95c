"""Whether a file lies on a drive of several machines that keeps the locks of each to itself."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
#: drives whose locks stay on the machine: for every file, or where they are mounted with one of these options
_NEVER_PASSED_ON = {"fuse.sshfs", "fuse.s3fs", "fuse.rclone"}
_KEPT_BY = {
    "nfs": {"nolock", "local_lock=all", "local_lock=posix"},
    "nfs4": {"nolock", "local_lock=all", "local_lock=posix"},
    "cifs": {"nobrl"},
    "smb3": {"nobrl"},
    "lustre": {"localflock"},
}


def keeps_locks_to_itself(path: Path) -> bool:
    """Tell whether other machines that see a file do not see its locks; only Linux says so, elsewhere it is False.

    Parameters
    ----------
    path : Path
        A file, with symbolic links resolved.

    References
    ----------
    nfs(5), mount.cifs(8), mount.lustre(8): the options nolock, local_lock, nobrl, localflock. proc_pid_mountinfo(5).
    """
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    mounts = [mount for line in lines if (mount := _mount(line)) and path.is_relative_to(mount[0])]
    if not mounts:
        return False
    # of mounts over one another at a place, the last is the one that is seen
    _, kind, options = max(reversed(mounts), key=lambda mount: len(mount[0].parts))
    return kind in _NEVER_PASSED_ON or bool(_KEPT_BY.get(kind, set()) & options)


def _mount(line: str) -> tuple[Path, str, set[str]] | None:
    """Give where a line says that something is mounted, of which kind, and with which options."""
    here, _, there = line.partition(" - ")
    left, right = here.split(" "), there.split(" ")
    if len(left) < 6 or len(right) < 3:
        return None
    place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), left[4])
    return Path(place), right[0], {*left[5].split(","), *right[2].split(",")}
