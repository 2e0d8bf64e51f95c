"""Files that are no CSV although they are named so: what they are, and how they become CSV."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

#: what a file is, by its first bytes, and the remedy
_EXPORT = "export its table as CSV with the program that wrote it"
_UNPACK = "unpack it, and name the table in it"
_PICKLE = "convert it, if you trust its origin, by pandas.read_pickle({path!r}).to_csv('table.csv', index=False)"
_BYTES = (
    (b"\x1f\x8b", "compressed by gzip", "name it {path}.gz"),
    (b"BZh", "compressed by bzip2", "name it {path}.bz2"),
    (b"\xfd7zXZ\0", "compressed by xz", "name it {path}.xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"\xd0\xcf\x11\xe0", "a workbook of Excel", "save its sheet as CSV"),
    (b"PAR1", "a Parquet file", "convert it by read_parquet of pandas or polars"),
    (b"ARROW1", "a Feather file", "convert it by pandas.read_feather or polars.read_ipc"),
    (b"\x93NUMPY", "an array of numpy", "convert it by numpy.savetxt('table.csv', numpy.load({path!r}), delimiter=',')"),
    *((bytes([0x80, protocol]), "a pickle", _PICKLE) for protocol in range(2, 6)),
    (b"<stata_dta>", "a Stata file", "convert it by pandas.read_stata({path!r}).to_csv('table.csv', index=False)"),
    (b"\x89HDF", "an HDF5 file", _EXPORT),
    (b"$FL", "an SPSS file", _EXPORT),
    (b"MATLAB 5.0 MAT-file", "a file of MATLAB", _EXPORT),
    (bytes(12) + b"\xc2\xea\x81\x60", "a SAS file", "convert it by pandas.read_sas({path!r}).to_csv('table.csv', index=False)"),
    (b"SQLite format 3\0", "a database of SQLite", _EXPORT),
    (b"RDX", "a file of R", _EXPORT),
    (b"%PDF", "a PDF", _EXPORT),
    (b"version https://git-lfs", "a pointer of Git LFS", "get the table itself by git lfs pull"),
)
_ATTRIBUTE = re.compile(r"""\s*@attribute\s+('[^']*'|"[^"]*"|\S+)""", re.IGNORECASE)
_HTML = re.compile(r"\s*(<!doctype html|<html|<head|<body|<table|<!--)", re.IGNORECASE)
_JSON, _JSON_LINES = re.compile(r'\s*(\[\s*[\[{]|\{\s*["}])'), re.compile(r'\{"[^\n]*\}\s*\n\s*\{"')
_SVMLIGHT = re.compile(r"[-+]?\d\S*(\s+(qid:\d+|\d+:[-+]?[\d.]\S*))+\s*(#.*)?")


def other_format(start: bytes, path: Path) -> str:
    """Return what a file is, with a remedy, if its first bytes are those of another format than CSV; else an empty text."""
    if start[257:262] == b"ustar":
        return f"a tar archive; {_UNPACK}"
    if start.startswith(b"PK\x03\x04"):
        return _of_zip(path)
    for first, what, remedy in _BYTES:
        if start.startswith(first):
            return f"{what}; {remedy.format(path=str(path))}"
    return ""


def _of_zip(path: Path) -> str:
    names = zipfile.ZipFile(path).namelist() if zipfile.is_zipfile(path) else []
    if any(name.startswith("xl/") for name in names):
        return "a workbook of Excel; save its sheet as CSV"
    if "content.xml" in names:
        return "a document of LibreOffice; save its sheet as CSV"
    return f"a zip archive; name it {path}.zip" if len(names) == 1 else f"a zip archive; {_UNPACK}"


def other_text(text: str, path: Path, target: str) -> str:
    """Return what a file is, with a remedy, if its first characters are those of another format than CSV; else an empty text."""
    lines = text.splitlines()
    content = [line for line in lines if line.strip() and not line.startswith("%")]
    if content and content[0].strip().lower().startswith("@relation"):
        return _arff(lines, target)
    if _HTML.match(text):
        return "a page of HTML; download the table itself, or save the table of the page as CSV"
    if text.lstrip().startswith("<?xml"):
        return f"an XML file; {_EXPORT}"
    if _JSON_LINES.match(text.lstrip()):
        return f"a JSON file; convert it by pandas.read_json({str(path)!r}, lines=True).to_csv('table.csv', index=False)"
    if _JSON.match(text):
        return f"a JSON file; convert it by pandas.read_json({str(path)!r}).to_csv('table.csv', index=False)"
    if len(content) > 1 and all(map(_SVMLIGHT.fullmatch, content[:5])):
        return (
            f"a file of svmlight; convert it by X, y = sklearn.datasets.load_svmlight_file({str(path)!r}) and "
            "pandas.DataFrame(X.toarray()).assign(y=y).to_csv('table.csv', index=False)"
        )
    return ""


def _arff(lines: list[str], target: str) -> str:
    """Return the remedy for a file of ARFF: below @data it is CSV without names, unless it is sparse."""
    data = next((k for k, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    below = [] if data is None else [line.strip() for line in lines[data + 1 :] if line.strip() and not line.startswith("%")]
    if below and below[0].startswith("{"):
        return f"a sparse ARFF file; {_EXPORT}"
    names = [found[1].strip("'\"") for line in lines[:data] if (found := _ATTRIBUTE.match(line))]
    column = f" --target {names.index(target) + 1}" if target in names else ""
    skip = "the number of lines up to @data" if data is None else data + 1
    return f"an ARFF file; use --skip-rows {skip} --no-header{column}, as its columns are numbered from 1"
