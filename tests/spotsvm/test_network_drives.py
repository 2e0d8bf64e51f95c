from pathlib import Path

import pytest

from spotsvm.network_drives import keeps_locks_to_itself

MOUNTS = r"""
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 22 0:45 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2,local_lock=none
32 22 0:46 / /old rw,relatime - nfs server:/old rw,vers=3,nolock,local_lock=all
33 32 0:47 / /old/good rw,relatime - nfs server:/good rw,vers=3,local_lock=none
34 22 0:48 / /win\040dows rw - cifs //server/share rw,nobrl
35 22 0:49 / /ssh rw - fuse.sshfs me@server: rw
36 22 0:50 / /lustre rw - lustre mds:/fs rw,localflock
37 22 0:51 / /twice rw - nfs server:/a rw,nolock
38 37 0:52 / /twice rw - tmpfs tmpfs rw
not a mount
"""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("/x/study.db-lock", False),
        ("/home/me/study.db-lock", False),
        ("/old/study.db-lock", True),
        ("/older/study.db-lock", False),
        ("/old/good/study.db-lock", False),
        ("/win dows/study.db-lock", True),
        ("/ssh/study.db-lock", True),
        ("/lustre/study.db-lock", True),
        ("/twice/study.db-lock", False),
    ],
)
def test_it_goes_by_the_drive_of_the_file_and_its_options(place, expected, tmp_path, monkeypatch):
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr("spotsvm.network_drives._MOUNTS", tmp_path / "mountinfo")
    assert keeps_locks_to_itself(Path(place)) is expected


def test_a_system_that_does_not_say(tmp_path, monkeypatch):
    monkeypatch.setattr("spotsvm.network_drives._MOUNTS", tmp_path / "mountinfo")
    assert keeps_locks_to_itself(Path("/old/study.db-lock")) is False


def test_the_disk_of_this_machine(tmp_path):
    assert keeps_locks_to_itself(tmp_path.resolve() / "study.db-lock") is False
