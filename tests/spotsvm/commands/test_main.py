import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points, version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import uniform
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC

from spotsvm import Study, load_study
from spotsvm.errors import StorageError
from spotsvm.searches import SEARCHES

SCRIPT = str(Path(sys.executable).with_name("spotsvm"))
CLOCK = r"seconds|_time"
PLAN = r"spotsvm: (reading|rows|features|task|score|plan|fit|notice|baseline): |\w+: \d+ of \d+ (trials|sweeps)"


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "iris.csv"
    X, y = load_iris(return_X_y=True, as_frame=True)
    X[50:].assign(kind=y[50:].map({1: "versicolor", 2: "virginica"})).to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def diabetes(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "diabetes.csv"
    load_diabetes(as_frame=True).frame[:80].to_csv(path, index=False)
    return str(path)


def run(*args):
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == 0, result.stderr
    assert unplanned(result.stderr) == ""
    return result.stdout


def unplanned(stderr):
    """What is on stderr besides what `tune` says before its searches."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not re.match(PLAN, line))


def untimed(text):
    """Return what the command prints, without the times of the fits."""
    return re.sub(r" +\d[^ ]* (s|min \d+ s)$", "", text, flags=re.MULTILINE)


def tune(file, *args, target="kind"):
    model = [] if "--model" in args else ["--model", "svm"]
    return run("tune", file, "--target", target, *model, "--trials", 7, "--cv", 3, *args)


def rows(text):
    """The closing table: the first score of a model on the training rows, its held-out score and the error of that."""
    number = r"  +[\d.]+"
    line = re.compile(rf"(\S.*?)  +([\d.]+)(?:{number})?  +([\d.]+) \+- ([\d.]+)(?:{number})?(?:  .*s)?")
    found = [line.fullmatch(one.rstrip()) for one in text.splitlines()]
    return {match[1]: [float(match[k]) for k in (2, 3, 4)] for match in found if match}


def trials(source):
    frame = pd.read_csv(source)
    return frame.drop(columns=frame.columns[frame.columns.str.contains(CLOCK)])


@pytest.mark.parametrize("command", sorted(main.list_commands(None)))
def test_help_explains_each_option(command):
    text = " ".join(run(command, "--help").split())
    for option in main.get_command(None, command).params:
        if option.param_type_name == "option":
            assert option.help
            assert all(name in text for name in option.opts)
            assert " ".join(option.help.split()[:3]) in text
        else:
            assert option.human_readable_name in text


def test_help_names_each_command_and_the_version_is_that_of_the_package():
    text = run("--help")
    assert set(main.list_commands(None)) == {"tune", "demo", "export", "predict", "report", "status", "study", "warmup"}
    assert all(re.search(rf"\n  {name} +[A-Z].*\.\n", text) for name in main.list_commands(None))
    assert "..." not in text.partition("Commands:")[2]
    assert all(main.get_command(None, name).name == name for name in main.list_commands(None))
    assert text == run("-h")
    bare = CliRunner().invoke(main, [])
    assert (bare.exit_code, "Usage: " in bare.output) == (2, True)
    assert run("--version").strip() == f"spotsvm, version {version('spotsvm')}"
    text = " ".join(run("tune", "--help").split())
    assert all(name in text for name in SEARCHES.keys() - {"nsga2", "parego"})


@pytest.fixture(scope="module")
def tuned(iris, tmp_path_factory):
    """Return what a run prints, and its folder."""
    out = tmp_path_factory.mktemp("tuned")
    return tune(iris, "--baseline", "random", "--out", out), out


def test_the_printed_table_is_that_of_the_files(tuned, iris):
    text, out = tuned
    table = rows(text)
    assert list(table) == ["always 'versicolor'", "default SVM", "random (7 trials)", "kriging (7 trials)"]
    alone = tune(iris, "--search", "random", "--trials", 1, "--no-compare")
    assert list(rows(alone)) == ["always 'versicolor'", "default SVM", "random (1 trials)"]
    assert ("random forest" in text, "random forest" in alone) == (True, False)
    written = pd.read_csv(out / "comparison.csv")
    np.testing.assert_allclose(list(table.values()), written[["on_folds", "held_out", "held_out_error"]][:4], atol=6e-5)
    assert list(written["model"][4:6]) == ["linear", "forest"]
    params = json.loads((out / "parameters.json").read_text())
    assert f"C = {params['C']:.4g}" in text
    assert SVC(**params).get_params() == SVC().get_params() | params


def test_the_command_says_what_it_decided(iris, tmp_path):
    path = tmp_path / "iris.csv"
    frame = pd.read_csv(iris)
    frame.assign(town=["Ulm", "Bonn"] * 50, id=range(100), copy=frame["kind"].str[:2]).to_csv(
        path, index=False, sep=";", decimal=","
    )
    args = ["tune", path, "--target", "kind", "--model", "svm", "--trials", 1, "--cv", 3, "--search", "random"]
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("spotsvm: ")]
    said = dict(line.removeprefix("spotsvm: ").split(": ", 1) for line in lines if "notice" not in line)
    assert said["reading"] == "fields separated by ';', decimal commas, UTF-8"
    assert said["rows"] == "100; 25 are held out, and no search uses them"
    assert said["features"] == "5 numbers, 2 yes/no"
    assert "spotsvm: columns: 'town' (yes/no): 'Bonn' is 0, 'Ulm' is 1" in lines
    why = "as the target has no numbers (--task overrides this)"
    assert said["task"] == f"classification, {why}; rows of each class: 'versicolor': 50, 'virginica': 50"
    assert said["score"] == "accuracy, mean over 3 folds of the training rows; larger is better"
    table = rows(result.stdout)
    assert said["baseline"] == f"0.48 for always 'virginica'; {table['default SVM'][0]:.4g} for the default SVM"
    assert "random: 1 of 1 trials, best value " in result.stderr
    notices = [line for line in lines if "notice" in line]
    assert ["'id'" in line or "'copy'" in line or "2 parameters" in line for line in notices] == [True] * len(notices)
    assert len(notices) >= 3


def test_quiet_prints_the_results_alone(iris):
    args = [
        "tune",
        iris,
        "--target",
        "kind",
        "--model",
        "svm",
        "--trials",
        "2",
        "--cv",
        "3",
        "--search",
        "random",
        "--quiet",
        "--no-compare",
    ]
    result = CliRunner().invoke(main, args)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "random (2 trials)" in result.stdout


def test_folds_that_are_not_given_suit_the_smallest_class(tmp_path):
    path = tmp_path / "rare.csv"
    kinds = ["a", "b"] * 15 + ["rare"] * 3
    pd.DataFrame({"x": np.arange(33.0) % 7, "kind": kinds}).to_csv(path, index=False)
    args = ["tune", str(path), "--target", "kind", "--model", "svm", "--trials", "2", "--search", "random", "--no-compare"]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.stderr
    assert (
        "spotsvm: notice: 2 folds in place of 5, as class 'rare' has only 2 of the training rows (--drop-classes rare leaves out "
        "rare classes)"
    ) in result.stderr
    assert "score: accuracy, mean over 2 folds" in result.stderr
    without = CliRunner().invoke(main, [*args, "--drop-classes", "rare"])
    assert "mean over 5 folds" in without.stderr
    assert "rows of the class 'rare' are left out: 3" in without.stderr
    given = CliRunner().invoke(main, [*args, "--cv", "5"])
    assert given.exit_code == 2
    assert "fewer than --cv 5; use --cv 2, or leave its rows out by --drop-classes rare" in given.stderr


def test_the_task_and_the_scorer_can_be_said(diabetes):
    text = tune(diabetes, "--task", "regression", "--scoring", "r2", "--search", "random", "--no-compare", target="target")
    assert "R2: larger is better." in text
    assert all(tuned < 1 for tuned, *_ in rows(text).values())
    assert "epsilon = " in text


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "storm.csv"
    rng = np.random.default_rng(0)
    rain = rng.exponential(size=520) * (rng.random(520) < 0.2)
    level = np.convolve(rain, 0.8 ** np.arange(30))[:520]
    hours = pd.date_range("2011-03-31", periods=520, freq="h")
    pd.DataFrame({"time": hours, "rain": rain, "level": level}).to_csv(path, index=False)
    return str(path)


def test_a_series(storm, tmp_path, no_pictures):
    args = [
        storm,
        "--no-compare",
        "--model",
        "stormwater",
        "--time",
        "time",
        "--search",
        "random",
        "--trials",
        3,
        "--out",
        tmp_path,
    ]
    text = tune(*args, target="level")
    assert "Pipeline stormwater: two leaky sums of the rain" in text
    assert "the last quarter, +-" in text
    assert list(rows(text)) == ["always the mean", "default SVM", "random (3 trials)"]
    assert "rain1__leaky__windows = " in text
    assert untimed(tune(*args, target="level")) == untimed(text)
    assert tune(*args[:-2], "--horizon", 5, target="level") != text


def test_export_gives_the_trials_of_out(tuned, tmp_path):
    record = tuned[1] / "kriging.db"
    written = (tuned[1] / "kriging_trials.csv").read_text()
    before = record.read_bytes()
    assert run("export", record) == run("export", record, "--csv", "-") == written
    assert run("export", record, "--csv", tmp_path / "again.csv") == ""
    assert (tmp_path / "again.csv").read_text() == written
    assert record.read_bytes() == before


def test_a_folder_whose_files_are_not_of_one_run_is_refused_with_remedies_that_work(tuned, iris, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(tuned[1], folder)
    first = run("predict", folder, iris)
    (folder / "report.html").write_text("of another run")
    refused = CliRunner().invoke(main, ["predict", str(folder), iris])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"spotsvm: error: {folder} does not hold the results of one run: report.html is not as the run has written it, because "
        "the run was ended as it wrote its files, or because they were changed since; tune again, or name "
        f"{folder / 'model.skops'} to use this file as it is\n"
    )
    assert run("predict", folder / "model.skops", iris) == first


def test_the_model_predicts(tuned, iris, tmp_path):
    model = tuned[1] / "model.skops"
    printed = run("predict", model, iris)
    assert run("predict", model, iris, "--out", tmp_path / "p.csv") == ""
    assert (tmp_path / "p.csv").read_text() == printed
    found = pd.read_csv(io.StringIO(printed))
    own = list(pd.read_csv(iris))
    assert list(found) == [*own, "row", "prediction", "decision", "probability_versicolor", "probability_virginica"]
    only = pd.read_csv(io.StringIO(run("predict", model, iris, "--only")))
    pd.testing.assert_frame_equal(only, found.drop(columns=own))
    assert (found["prediction"] == pd.read_csv(iris)["kind"]).mean() > 0.9
    for given, out in [(model, iris), (model, model), (model.parent, model)]:  # the folder of a model stands for its file
        spare = CliRunner().invoke(main, ["predict", str(given), iris, "--out", str(out)])
        error = f"spotsvm: error: --out {out} is one of the files to read; use another file\n"
        assert (spare.exit_code, spare.stderr) == (2, error)


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path):
    with Study({"x": uniform(0, 1)}, "random", 0, path=tmp_path / "long.db") as study:
        study.run(lambda params: 1.0, n_trials=150)
    for arguments in (["export", str(tmp_path / "long.db")], ["status", "--help"]):
        with subprocess.Popen([SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == b""


def test_python_m_spotsvm_is_the_same_command(tmp_path):
    script, module = (
        subprocess.run([*command, "status", "none.db"], capture_output=True, text=True, cwd=tmp_path)
        for command in ([SCRIPT], [sys.executable, "-m", "spotsvm"])
    )
    assert (module.returncode, module.stdout, module.stderr) == (script.returncode, script.stdout, script.stderr)
    assert script.stderr.startswith("spotsvm: error: ")
    usage = subprocess.run([sys.executable, "-m", "spotsvm", "tune"], capture_output=True, text=True, cwd=tmp_path)
    assert (usage.returncode, "See python -m spotsvm tune --help" in usage.stderr) == (2, True)


def test_help_and_version_import_nothing_heavy():
    code = (
        "import sys; from spotsvm.commands.main import main; [main([option], standalone_mode=False) for option in sys.argv[1:]]; "
        "print(sorted({'numpy', 'pandas', 'scipy', 'sklearn', 'numba', 'matplotlib', 'skops', 'tabulate'} & sys.modules.keys()))"
    )
    found = subprocess.run([sys.executable, "-c", code, "--help", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_export_has_the_columns_of_the_study_whatever_was_tried(tmp_path):
    space = [{"kernel": ["rbf"], "gamma": uniform(0, 1)}, {"kernel": ["poly"], "degree": [2, 3, 4]}]
    with Study(space, "random", 0, path=tmp_path / "new.db") as study:
        study.run(lambda params: 1.0, n_trials=2)
        assert [t.params["kernel"] for t in study.trials] == ["poly", "poly"]
        study.to_csv(tmp_path / "trials.csv")
    assert run("export", tmp_path / "new.db") == (tmp_path / "trials.csv").read_text()
    Study(space, "random", 0, path=tmp_path / "empty.db").close()
    assert len(trials(io.StringIO(run("export", tmp_path / "empty.db")))) == 0


def test_demo(tmp_path, monkeypatch, no_pictures):
    """It ends with the page, or why there is none, and with the next command; the code is on the page, or asked for."""
    monkeypatch.chdir(tmp_path)
    average = run("demo", "--cv", 2, "--no-compare")
    assert list(rows(average)) == ["always 1", "default SVM", "tuned SVM"]
    assert "TunedSVC(cv=2, random_state=0).fit(train.X, train.y)" in (tmp_path / "spotsvm_demo.html").read_text(encoding="utf-8")
    args = ["demo", "--model", "svm", "--trials", 2, "--cv", 2, "--search", "random", "--no-compare"]
    text = run(*args)
    assert text.startswith("Breast cancer")
    assert rows(text)["default SVM"][1] > 0.9
    assert text.splitlines()[-2].startswith("The page spotsvm_demo.html shows this with pictures")
    assert re.fullmatch(r"Next, with a table of your own: (\S*/)?spotsvm tune FILE.csv --target COLUMN", text.splitlines()[-1])
    page = (tmp_path / "spotsvm_demo.html").read_text(encoding="utf-8")
    assert "SpotSearchCV(" in page
    assert "SpotSearchCV(" not in text
    (tmp_path / "spotsvm_demo.html").unlink()
    (tmp_path / "spotsvm_demo.html").mkdir()  # nothing can be written there
    again = run(*args, "--code")
    assert "SpotSearchCV(" in again
    assert "from spotsvm.tables import held_out, make_table, named_pipeline\n" in again  # public names only
    assert again.splitlines()[-2].startswith("The page with pictures was not written (")
    assert again.splitlines()[-2].endswith("; --out FOLDER names another folder.")
    assert again.splitlines()[-1].endswith("spotsvm tune FILE.csv --target COLUMN")


class Squares:
    """Square numbers."""

    def __init__(self, quick=False):
        self.n = 2 if quick else 3

    @classmethod
    def read_arguments(cls, words):
        return {}

    def run(self):
        self.squares = [k**2 for k in range(self.n)]

    def to_markdown(self):
        return f"| {self.squares} |"

    def write(self, out):
        out.mkdir()
        (out / "squares.csv").write_text(str(self.squares))
        return [out / "squares.csv"]


@dataclass(order=True)
class Point:
    name: str

    def load(self):
        return Squares


@pytest.fixture
def studies(monkeypatch):
    monkeypatch.setattr("spotsvm.commands.study.entry_points", lambda group: [Point("squares"), Point("cubes")])


def test_studies_are_listed_and_run(studies, monkeypatch, tmp_path):
    assert run("study").splitlines() == ["cubes   Square numbers.", "squares Square numbers."]
    assert run("study", "squares") == "| [0, 1, 4] |\n"
    for options, text, said in (
        (["--quick", "--out", tmp_path / "out"], "| [0, 1] |\n", f"wrote {tmp_path / 'out' / 'squares.csv'}\n"),
        (["--data", tmp_path], "| [0, 1, 4] |\n", f"spotsvm: the study squares reads no data; --data {tmp_path} is ignored\n"),
    ):
        result = CliRunner().invoke(main, ["study", "squares", *map(str, options)])
        assert (result.exit_code, result.stdout, result.stderr) == (0, text, said)
    told = []
    monkeypatch.setattr(Squares, "reads_data", True, raising=False)
    monkeypatch.setattr(Squares, "use_data", lambda self, folder: told.append(folder), raising=False)
    run("study", "squares", "--data", tmp_path)
    assert told == [tmp_path]


@pytest.mark.parametrize("name", [[], ["squares"]])
def test_without_an_installation_no_study_is_registered(name, monkeypatch):
    monkeypatch.setattr("spotsvm.commands.study.entry_points", lambda group: [])
    result = CliRunner().invoke(main, ["study", *name])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no studies are registered" in result.stderr
    assert "run pip install ." in result.stderr


def test_warmup_says_how_long_it_took():
    assert run("warmup").startswith("solvers and Kriging compiled, or already compiled, in ")


def test_the_librarys_own_studies_are_registered():
    assert {"overhead", "reinterpolation"} <= {point.name for point in entry_points(group="spotsvm.studies")}


def test_ctrl_c_keeps_what_was_told(iris, tuned, tmp_path, monkeypatch, no_pictures):
    @contextmanager
    def interrupting(name, budget):
        def told(study, trial):
            if study.n_finished == 4:
                raise KeyboardInterrupt

        yield told

    folder = tmp_path / "out"
    args = ["tune", iris, "--target", "kind", "--model", "svm", "--trials", "7", "--cv", "3", "--baseline", "random"]
    args += ["--out", str(folder)]
    with monkeypatch.context() as patch:
        patch.setattr("spotsvm.study.callbacks.progress_bar", interrupting)
        result = CliRunner().invoke(main, args)
    assert (result.exit_code, result.stdout) == (130, "")
    assert unplanned(result.stderr) == (
        f"spotsvm: interrupted; the candidates scored so far are saved in {folder}. To resume, run the same command: "
        f"{shlex.join(['spotsvm', *args])}\n"
    )
    assert trials(io.StringIO(run("export", folder / "random.db")))["sweep"].nunique() == 4
    text, undisturbed = tuned
    assert untimed(run(*args)).replace(str(folder), str(undisturbed)).split() == untimed(text).split()
    for name in ("random_trials.csv", "kriging_trials.csv"):
        pd.testing.assert_frame_equal(trials(folder / name), trials(undisturbed / name))


def has_told(path):
    try:
        return any(trial.state == "ok" for trial in load_study(path).trials)
    except StorageError:
        return False


@pytest.mark.parametrize(("sent", "workers", "code"), [(signal.SIGINT, "2", 130), (signal.SIGTERM, "1", 143)])
def test_a_real_ctrl_c_or_a_batch_queue_s_signal(sent, workers, code, iris, tmp_path, worker_held_at_import):
    args = ["tune", iris, "--target", "kind", "--model", "svm", "--trials", "1000000", "--search", "random"]
    args += ["--workers", workers]
    args += ["--out", str(tmp_path / "my runs")]
    second = worker_held_at_import("LokyProcess-2")  # it is the last to say anything of Ctrl-C
    process = subprocess.Popen(
        [SCRIPT, *args],
        env=second.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        while process.poll() is None and not (
            has_told(tmp_path / "my runs" / "random.db") and second.is_there() == (workers == "2")
        ):
            time.sleep(0.05)
        os.killpg(process.pid, sent)
        second.let_go()
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out, unplanned(err).count("\n")) == (code, "", 1)
    assert err.endswith(f": {shlex.join(['spotsvm', *map(str, args)])}\n")
    assert set(trials(io.StringIO(run("export", tmp_path / "my runs" / "random.db")))["state"]) == {"ok", "running"}


def test_an_interrupted_average_says_that_nothing_is_saved(iris, monkeypatch):
    def interrupted(job, progress, say):
        raise KeyboardInterrupt

    monkeypatch.setattr("spotsvm.tuning.job.Job.run", interrupted)
    args = ["tune", iris, "--target", "kind", "--out", "results"]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 130
    assert result.stderr == (
        "spotsvm: interrupted; nothing was saved, as a fit of the average is saved at its end. The same command starts again: "
        f"{shlex.join(['spotsvm', *args])}\n"
    )


def test_a_notice_is_printed_once(tmp_path):
    path = tmp_path / "table.csv"
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    pd.DataFrame({"x": x, "constant": 1, "kind": np.where(x + 0.3 * rng.normal(size=60) > 0, "a", "b")}).to_csv(path, index=False)
    args = ["tune", str(path), "--target", "kind", "--model", "svm", "--trials", "2", "--search", "random", "--no-compare"]
    for more in ([], ["--quiet"]):
        result = CliRunner().invoke(main, [*args, *more])
        assert result.exit_code == 0, result.stderr
        assert (result.stderr.count("notice: column 'constant'"), result.stdout.count("notice: column 'constant'")) == (
            (0, 1) if more else (1, 0)
        )


def test_without_out_it_says_what_would_have_been_needed(iris, monkeypatch):
    def interrupted(job, progress, say):
        raise KeyboardInterrupt

    monkeypatch.setattr("spotsvm.tuning.job.Job.run", interrupted)
    result = CliRunner().invoke(main, ["tune", iris, "--target", "kind", "--model", "svm"])
    assert result.exit_code == 130
    assert result.stderr == (
        "spotsvm: interrupted; nothing was saved, as there was no --out. To be able to resume after an interruption: "
        f"{shlex.join(['spotsvm', 'tune', iris, '--target', 'kind', '--model', 'svm'])} --out FOLDER\n"
    )
