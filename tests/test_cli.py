"""The command line: help that loads nothing heavy, happy paths, and one line for every mistake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gamegen
from gamegen import commands
from gamegen.__main__ import main
from gamegen.sample import make_sample
from gamegen.stored import read_dataset

ROOT = Path(__file__).parent.parent
TASK = gamegen.list_tasks()[-1]
HEAVY = {"numpy", "PIL", "pyarrow", "torch", "transformers", "diffusers", "pydantic", "yaml", "pandas", "fastapi"}


def run(*args: str | Path, expect: int = 0) -> None:
    assert main([str(arg) for arg in args]) == expect


def python(*args: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cli") / "set"
    run("make", "--tasks", TASK, "--count", 5, "--levels", "1,2", "--pixels", 256, "--out", place, "--quiet")
    return place


# Light on its feet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "what", ["import gamegen", "from gamegen.__main__ import main; main(['--help'])", "import gamegen; dir(gamegen)"]
)
def test_help_and_import_load_nothing_heavy(what: str) -> None:
    code = (
        f"import sys\ntry:\n    exec({what!r})\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = set(python("-c", code).stdout.rpartition("LOADED")[2].split())
    assert "gamegen" in loaded and not loaded & HEAVY


@pytest.mark.parametrize("name", commands.names())
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main([name, "--help"])
    text = capsys.readouterr().out
    assert done.value.code == 0 and f"usage: gamegen {name}" in text
    summary = (commands.load(name).__doc__ or "").splitlines()[0]
    assert summary.endswith((".", ":")) and summary in text


def test_the_program_lists_its_commands_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(f"  {name} " in text or f"  {name}\n" in text for name in commands.names())
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == f"gamegen {gamegen.__version__}"


def test_a_reader_that_leaves_is_no_error() -> None:
    script = f"{sys.executable} -m gamegen completion bash | head -n 1; echo ${{PIPESTATUS[0]}}"
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    done = subprocess.run(
        [bash, "-c", script], capture_output=True, text=True, env=dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout.splitlines()[-1] == "0" and not done.stderr


# Happy paths ----------------------------------------------------------------------------------------------------------


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    run("list")
    table = capsys.readouterr().out
    assert all(f"\n{task} " in table for task in gamegen.list_tasks())
    run("list", TASK, "--json")
    (row,) = json.loads(capsys.readouterr().out)
    assert row["task"] == TASK and row["levels"] == [1, 2, 3, 4, 5] and len(row["skins"]) >= 3


def test_show_by_task_and_by_id(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("show", TASK, "--level", 2, "--seed", 4, "--out", tmp_path)
    text = capsys.readouterr().out
    sample = gamegen.create_dataset(TASK, seed=4, level=2)[0]
    assert sample.id in text and sample.instruction in text and sample.reasoning in text
    assert len(list(tmp_path.glob("*.png"))) == 2
    run("show", sample.id, "--no-images", "--json")
    row = json.loads(capsys.readouterr().out)
    assert row["position_after"] == sample["position_after"]


def test_make_says_what_it_made(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    again = ("make", "--tasks", TASK, "--count", 5, "--levels", "1,2", "--pixels", 256, "--out", folder, "--json")
    run(*again)
    summary = json.loads(capsys.readouterr().out)
    assert summary["count"] == summary["resumed"] == 5 and summary["kept"] == {TASK: 5}
    run("make", "--tasks", TASK, "--count", 2, "--format", "jsonl", "--pixels", 256, "--out", tmp_path / "b")
    output = capsys.readouterr()
    assert output.out.count("\n") == 1 and "2 samples" in output.out and not output.err


def copy_edits(folder: Path, outputs: Path, column: str) -> None:
    for stored in read_dataset(folder):
        path = outputs / f"{stored.output_name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored.row[column])


def test_verify_counts_right_wrong_and_missing(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    copy_edits(folder, tmp_path / "gold", "edited_image")
    run("verify", folder, tmp_path / "gold", "--json", "--out", tmp_path / "verdicts.jsonl")
    table = json.loads(capsys.readouterr().out)
    assert table[-1]["category"] == "all" and table[-1]["correct"] == 1 and table[-1]["missing"] == 0
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").open()]
    assert len(verdicts) == 5 and all(each["correct"] and each["reason"] for each in verdicts)
    next((tmp_path / "gold").rglob("0.png")).unlink()
    next((tmp_path / "gold").rglob("1.png")).write_bytes(b"not a picture")
    run("verify", folder, tmp_path / "gold", "--json")
    table = json.loads(capsys.readouterr().out)
    assert table[-1]["missing"] == 1 and table[-1]["correct"] == 0.6 == table[-1]["readable"]
    copy_edits(folder, tmp_path / "same", "original_image")
    run("verify", folder, tmp_path / "same")
    assert "0.0%" in capsys.readouterr().out.splitlines()[-1]


def test_verify_judges_one_picture_by_its_id(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sample = make_sample("tictactoe/best@1:train:1:0:0")
    sample.edited.save(tmp_path / "right.jpg")
    sample.original.save(tmp_path / "wrong.png")
    (tmp_path / "none.png").write_bytes(b"not a picture")
    for name, outcome in (("right.jpg", "correct: "), ("wrong.png", "wrong: "), ("none.png", "unreadable: ")):
        run("verify", sample.id, tmp_path / name)
        assert capsys.readouterr().out.startswith(outcome)
    run("verify", sample.id, tmp_path / "right.jpg", "--json")
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["correct"] and verdict["position"] == sample["position_after"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("completion", shell)
    script = capsys.readouterr().out
    assert all(name in script for name in commands.names()) and "levels" in script
    program = shutil.which(shell)
    if program and shell != "tcsh":
        assert subprocess.run([program, "-n"], input=script, text=True).returncode == 0


# Mistakes -------------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("", "COMMAND"),
    ("mak", "did you mean 'make'"),
    ("list mazzze_", "unknown game"),
    ("list ,", "no task chosen"),
    ("show TASKK", "did you mean"),
    ("show TASK --level 9", "level must be one of 1 to 5"),
    ("show TASK --skin plaid", "unknown skin"),
    ("show TASK --pixels 9", "256 to 1024"),
    ("show TASK --language fr", "language"),
    ("show TASK@1:train:3:0", "not a sample id"),
    ("show TASK@7:train:3:0:0", "version 7"),
    ("show nogame/nokind@1:train:3:0:0", "unknown game"),
    ("show TASK --index -1", "index"),
    ("make --count 3", "--out"),
    ("make --count none --out TMP/x", "invalid int value: 'none'"),
    ("make --count 0 --out TMP/x", "--count must be at least 1"),
    ("make --count 3 --tasks no.yaml --out TMP/x", "no such mix"),
    ("make --count 3 --tasks TASK --levels a,b --out TMP/x", "levels must be numbers"),
    ("make --count 3 --tasks TASK --levels 0 --out TMP/x", "level must be one of 1 to 5"),
    ("make --count 3 --tasks TASK --skins plaid --out TMP/x", "unknown skin"),
    ("make --count 3 --tasks TASK --format parket --out TMP/x", "did you mean 'parquet'"),
    ("make --count 3 --tasks TASK --pixels 7 --out TMP/x", "pixels"),
    ("make --count 3 --tasks TASK --shard 0 --out TMP/x", "at least 1"),
    ("make --count 3 --tasks TASK --jobs -1 --out TMP/x", "at least 1"),
    ("make --count 3 --tasks TASK --split dev --out TMP/x", "invalid choice: 'dev'"),
    ("make --count 3 --tasks TASK --out TMP/file", "is a file"),
    ("make --count 3 --tasks TASK --out TMP/file/below", "cannot write"),
    ("make --count 3 --tasks TASK --out TMP/full", "not empty"),
    ("verify TMP/none TMP", "no such dataset"),
    ("verify SET TMP/none", "no such outputs folder"),
    ("verify SET TMP/full", "has no picture for any row"),
    ("verify TMP/full TMP", "holds no dataset"),
    ("verify maze/path@1:train:1:0:0 TMP/none", "no such picture"),
    ("verify maze/path@1:train:1:0:0 TMP", "name the folder of their dataset"),
    ("verify maze/path@1:train:9:0:0 TMP/file", "level must be one of 1 to 5"),
    ("gallery TMP/none --out TMP/g.html", "no such dataset"),
    ("gallery SET --outputs TMP/none --out TMP/g.html", "no such outputs folder"),
    ("gallery SET --limit -3 --out TMP/g.html", "--limit"),
    ("gallery SET --out TMP/file/g.html", "cannot write"),
    ("new Maze", "not 'Maze'"),
    ("new class", "not 'class'"),
    ("new GAME", "already"),
    ("completion fish", "invalid choice: 'fish'"),
]


@pytest.mark.parametrize(("line", "says"), MISTAKES, ids=[line or "nothing" for line, _ in MISTAKES])
def test_a_mistake_is_one_line(
    line: str, says: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thing").write_text("")
    for word, value in (("TASK", TASK), ("GAME", TASK.partition("/")[0]), ("TMP", tmp_path), ("SET", folder)):
        line = line.replace(word, str(value))
    assert main(line.split()) == 2
    output = capsys.readouterr()
    assert output.err.startswith("gamegen: ") and output.err.count("\n") == 1, output.err
    assert says in output.err and not output.out


def test_interruptions_are_said_plainly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands.load("list"), "run", interrupt)
    assert main(["list"]) == 130
    assert "run the same command again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["make", "maze", "--count", "4", "--out", "d"], "maze; did you mean --tasks maze?; see gamegen make --help"),
        (["make", "--tasks", "maze", "sudoku", "--count", "4", "--out", "d"], "maze,sudoku?; see gamegen make --help"),
        (["list", "maze", "sudoku"], "sudoku; did you mean maze,sudoku?; see gamegen list --help"),
        (["make", "bogus", "--count", "4", "--out", "d"], "unrecognized arguments: bogus; see gamegen make --help"),
        (["list", "--foo"], "unrecognized arguments: --foo; see gamegen list --help"),
    ],
)
def test_arguments_that_a_command_does_not_know(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.rstrip().endswith(says)
