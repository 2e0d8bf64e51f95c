import re
from pathlib import Path

from spotsvm.reports.methods import literature

ROOT = Path(__file__).parents[3]


def test_the_literature_is_that_of_the_documentation():
    listed = (ROOT / "docs" / "method" / "references.md").read_text() + (ROOT / "CITATION.cff").read_text()
    searches = " ".join(re.sub(r"\s+", " ", path.read_text()) for path in (ROOT / "solvers" / "search").rglob("*.py"))
    own, *others = literature().items()
    assert own[0] == "spotsvm"
    for key, entry in others:
        title = re.search(r"title = \{\{(.*)\}\}", entry)[1]
        assert title.lower() in listed.lower() or title.lower() in searches.lower(), key
        assert re.search(r"year = \{(\d+)\}", entry)[1] in key
        assert re.search(r"author = \{(\w+)", entry)[1].lower() in key
    assert {key for key in literature() if f"@{key}" in _sources()} == set(literature())


def _sources():
    files = ("reports/study_methods.py", "reports/fitted_methods.py", "tuned/fitted.py")
    return "".join((ROOT / "spotsvm" / file).read_text() for file in files)
