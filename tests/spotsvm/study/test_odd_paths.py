"""A pipe in place of a table, and a working directory that is gone."""

import os
from pathlib import Path

import pytest
from completed_trials import refused
from scipy.stats import uniform

from spotsvm import Study, load_study
from spotsvm.common.csv_files import read_csv
from spotsvm.errors import DataError, StorageError
from spotsvm.tables import read_table

SPACE = {"x": uniform(0, 1)}


@pytest.mark.parametrize(
    "what",
    [
        lambda: Study(SPACE, "random", 0, path="x"),
        lambda: load_study("x"),
        lambda: read_csv("x"),
        lambda: read_table("x", "y"),
        lambda: Study(SPACE, "random", 0).report("x"),
        lambda: Study(SPACE, "random", 0).to_csv(Path("x")),
        lambda: Study(SPACE, "random", 0).report("/x", tables="x"),
    ],
)
@pytest.mark.usefixtures("no_folder")
def test_a_relative_path_where_the_working_directory_has_been_removed(what):
    refused(
        StorageError, "^(path|tables)='x' is relative, and the working directory has been removed; use an absolute path", what
    )


needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@needs_fifos
def test_a_pipe_in_place_of_a_table(tmp_path):
    pipe = tmp_path / "table.csv"
    os.mkfifo(pipe)
    (tmp_path / "link.csv").symlink_to(pipe)
    for path in (pipe, tmp_path / "link.csv"):
        for read in (lambda path=path: read_csv(path), lambda path=path: read_table(path, "y")):
            refused(DataError, f"^{path} is a named pipe, which may never .*; save the table as a file$", read)
