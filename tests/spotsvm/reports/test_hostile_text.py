"""Text of a study in its report, its tables and its CSV files: shown, and obeyed by nothing."""

import re

import pytest
from scipy.stats import uniform

from spotsvm import Study, load_study
from tests.spotsvm.study.record.records import edit

#: what a stranger may write into a record, and what Markdown, pandoc and LaTeX would make of it
EVIL = (
    "\x1b[31m\u202e\x07<img src=x> [a](javascript:b) `code` ![i](j) | \\input{/etc/passwd} $x$ ${7} %c & ~ ^ {a} [@jones1998] "
    "@deb2002 (Table 1)\n\n# heading\x00"
)
ESCAPE = re.compile(r"\\[\\`\[\]<>$|{}@]")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def strangers_record(path, several=False):
    direction = {"o|<b>": "minimize", "two": "minimize"} if several else "minimize"
    space = {"na|me <b> \\textbf{y} [@snoek2012] `": [EVIL, "b", "c"], "x": uniform(0, 1)}
    with Study(space, "random", 0, path=path, direction=direction, context={"estimator": EVIL}) as study:
        for k in range(5):
            trial = study.ask()
            if k == 2:
                study.fail(trial, EVIL)
            else:
                study.tell(trial, {"values": [k, -k]} if several else {"value": float(k), "split0_test_score": 0.5})
    about = {"versions": {"spotsvm": f"0.2{EVIL}", EVIL: EVIL}, "search": EVIL, "batch_size": EVIL}
    edit(path, "described", lambda content: content["entries"].update(about))
    for k in range(5):
        edit(path, "asked", lambda content: content["trial"].update(origin=EVIL, note=EVIL), k)
    return load_study(path)


@pytest.mark.parametrize("several", [False, True])
def test_the_methods_section_of_a_stranger_s_record_has_their_text_and_none_of_their_markup(several, tmp_path):
    study = strangers_record(tmp_path / "s.db", several)
    section = study.methods_section()
    for text in (repr(section), section.markdown(), section.latex(), section.space.to_string(), section.results.to_string()):
        assert not CONTROL.search(text)
    assert list(section.references) == ["spotsvm"]
    assert section.markdown().startswith(repr(section))
    prose, _, tables = section.markdown().partition("Table 1: The search space.")
    left = re.sub(rf"{ESCAPE.pattern}|`[^`]*`", "", prose).replace("[@spotsvm]", "")
    assert not set(left) & set("<>[]\\`$|{}@")
    assert prose.count("\n") == 2 * (len(section.paragraphs) - 1) + 2
    for line in ESCAPE.sub("", tables).splitlines():
        assert not set(line) & set("<>[]\\`$@")
    widths = {line.count("|") for line in ESCAPE.sub("", tables).splitlines() if line.startswith("|")}
    assert widths == ({5, 6} if several else {5, 8})
    latex = section.latex()
    assert set(re.findall(r"\\[a-z]+", latex)) <= {
        r"\textbackslash", r"\textless", r"\textgreater", r"\textasciitilde", r"\textasciicircum",
        r"\texttt", r"\cite", r"\ref", r"\begin", r"\end", r"\caption", r"\label", r"\toprule",
        r"\midrule", r"\bottomrule",
    }  # fmt: skip
    assert re.findall(r"\\cite\{(.*?)\}", latex) == ["spotsvm"]
    assert set(re.findall(r"\\ref\{(.*?)\}", latex)) == {"tab:space", "tab:results"}
    bare = re.sub(r"\\[{}$%&#_]", "", latex.replace("Table~", ""))
    assert bare.count("{") == bare.count("}")
    assert not set(bare) & set("$%~^#")


def test_what_a_stranger_s_record_shows_in_a_terminal_and_a_notebook(tmp_path):
    study = strangers_record(tmp_path / "s.db")
    shown = [study, study.trials[2], study.status(), study.space, study.recommend()]
    for one in shown:
        assert not CONTROL.search(repr(one))
        html = getattr(one, "_repr_html_", str)()
        assert not CONTROL.search(html)
        assert "<img" not in html or not hasattr(one, "_repr_html_")
