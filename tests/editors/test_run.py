"""The run: the yardsticks score what they must, and neither a kill nor a failure costs or changes anything."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from PIL import Image

from edit_models.editors.outputs import claimed, foreign
from edit_models.editors.registry import build
from edit_models.editors.run import Ran, Share, _editor, prompt_of, run_editor, seed_of
from gamegen.__main__ import main
from gamegen.core.errors import BadInput
from gamegen.judge import verify
from gamegen.stored import read_dataset

SLOW = """
import os, time
from edit_models.editors.yardsticks import Oracle
class Slow:
    def edit_row(self, row, *, seed):
        time.sleep(float(os.environ.get("SLOW", "0")))
        return Oracle().edit_row(row, seed=seed)
"""
HEAVY = """
import os
class Heavy:
    def __init__(self):
        if "HEAVY" in os.environ:
            raise RuntimeError(os.environ["HEAVY"])
    def edit(self, image, instruction, *, seed):
        return image
"""
FAULTY = """
from pathlib import Path
from PIL import Image
class Faulty:
    def __init__(self, *, mended):
        self.mended = Path(mended)
    def edit(self, image, instruction, *, seed):
        assert image.size == (512, 512) and ". " in instruction
        if seed % 3 == 0 and not self.mended.exists():
            raise RuntimeError("out of paint")
        if seed % 3 == 1 and not self.mended.exists():
            return Image.new("RGB", (8, 8))
        return image
"""


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _module(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("name, right", [("oracle", True), ("copy", False), ("noise", False), ("wrong", False)])
def test_yardsticks_score_what_they_must(dataset: Path, tmp_path: Path, name: str, right: bool) -> None:
    ran = run_editor(dataset, editor=name, out=tmp_path / "out")
    assert (ran.edited, ran.kept, ran.failures) == (21, 0, ())
    verdicts = [verify(stored.row, stored.output(tmp_path / "out")) for stored in read_dataset(dataset)]
    assert [verdict.correct for verdict in verdicts] == [right] * 21
    if name == "wrong":
        before = [str(stored.row["position_before"]) for stored in read_dataset(dataset)]
        assert all(verdict.position != position for verdict, position in zip(verdicts, before, strict=True))
        assert sum(verdict.legal for verdict in verdicts) >= 20  # a named swap of jewels has no legal alternative


def test_thinking_lies_beside_the_picture(dataset: Path, tmp_path: Path) -> None:
    run_editor(dataset, editor="oracle", out=tmp_path / "out", limit=3)
    for stored in list(read_dataset(dataset))[:3]:
        text = (tmp_path / "out" / f"{stored.output_name}.txt").read_text(encoding="utf-8")
        assert text == stored.row["reasoning"]


def test_neither_workers_nor_limits_change_the_files(dataset: Path, tmp_path: Path) -> None:
    run_editor(dataset, editor="noise", out=tmp_path / "one")
    run_editor(dataset, editor="noise", out=tmp_path / "two", limit=5)
    second = run_editor(dataset, editor="noise", out=tmp_path / "two", jobs=2)
    assert (second.kept, second.edited) == (5, 16)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_kill_and_rerun_equals_an_uninterrupted_run(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli
) -> None:
    _module(monkeypatch, tmp_path, "slow", SLOW)
    run_editor(dataset, editor="slow:Slow", out=tmp_path / "whole")
    killed = tmp_path / "killed"
    monkeypatch.setenv("SLOW", "0.2")
    for pictures in (2, 9):
        process = cli("edit", dataset, "--editor", "slow:Slow", "--out", killed, folder=tmp_path)
        while len(list(killed.glob("*/*.png"))) < pictures and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        assert process.returncode == -9
    monkeypatch.delenv("SLOW")
    torn = next(killed.glob("*/*.png"))
    torn.write_bytes(torn.read_bytes()[:200])
    (torn.parent / ".7.png.1.tmp").write_bytes(b"half")
    ran = run_editor(dataset, editor="slow:Slow", out=killed)
    assert ran.kept >= 8 and ran.kept + ran.edited == 21
    assert _files(killed) == _files(tmp_path / "whole")


def test_shares_of_a_run_make_the_whole(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli) -> None:
    """Two processes into one folder, and three folders copied together: the same files as one run, failures too."""
    _module(monkeypatch, tmp_path, "odd", ODD)
    run_editor(dataset, editor="odd:Batched", out=tmp_path / "whole")
    command = ("edit", dataset, "--editor", "odd:Batched", "--json")
    together = [cli(*command, "--out", tmp_path / "same", "--shard", f"{n}/2", folder=tmp_path) for n in (1, 2)]
    for number in (1, 2, 3):
        own = tmp_path / f"own{number}"
        assert main([*map(str, command), "--out", str(own), "--shard", f"{number}/3"]) == 1
        shutil.copytree(own, tmp_path / "copied", dirs_exist_ok=True)
    assert [json.loads(process.communicate()[0])["total"] for process in together] == [11, 10]
    for folder in (tmp_path / "same", tmp_path / "copied"):
        assert len(list(folder.glob("failures-*"))) > 1 and not (folder / "failures.jsonl").exists()
        ran = run_editor(dataset, editor="odd:Batched", out=folder)
        assert ran.edited == 0 and ran.kept + len(ran.failures) == 21
        assert _files(folder) == _files(tmp_path / "whole")


def test_a_share_of_nothing_is_no_error_but_a_bad_share_is(other_dataset: Path, tmp_path: Path) -> None:
    ran = run_editor(other_dataset, editor="copy", out=tmp_path / "out", share=Share(3, 3))
    assert ran.total == 0
    for text in ("0/2", "3/2", "2", "a/b", "1/0", "-1/2"):
        with pytest.raises(BadInput, match="a share is"):
            Share.parse(text)


def test_a_run_keeps_others_out_but_its_own_shares(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    about = foreign(out, dataset, editor="copy", options={})
    with claimed(out, about, shared=True):
        assert run_editor(dataset, editor="copy", out=out, share=Share(1, 2)).edited == 11
        with pytest.raises(BadInput, match="another run"):
            run_editor(dataset, editor="copy", out=out)
    with claimed(out, about, shared=False), pytest.raises(BadInput, match="another run"):
        run_editor(dataset, editor="copy", out=out, share=Share(2, 2))
    assert run_editor(dataset, editor="copy", out=out).edited == 10


def test_a_finished_run_does_not_build_its_editor(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _module(monkeypatch, tmp_path, "heavy", HEAVY)
    run_editor(dataset, editor="heavy:Heavy", out=tmp_path / "out")
    monkeypatch.setenv("HEAVY", "too heavy for this machine")
    _editor.cache_clear()
    assert run_editor(dataset, editor="heavy:Heavy", out=tmp_path / "out").kept == 21
    next((tmp_path / "out").glob("*/*.png")).unlink()
    with pytest.raises(RuntimeError, match="too heavy"):
        run_editor(dataset, editor="heavy:Heavy", out=tmp_path / "out")


def test_a_picture_of_the_dataset_that_cannot_be_opened_is_one_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off, or said to be 30,000 pixels wide and high; in a batch with good ones."""
    _module(monkeypatch, tmp_path, "odd", ODD)
    data = tmp_path / "data"
    data.mkdir()
    for name in ("good", "cut", "huge"):
        Image.new("1" if name == "huge" else "RGB", (30_000, 30_000) if name == "huge" else (64, 64)).save(
            data / f"{name}.png"
        )
    (data / "cut.png").write_bytes((data / "cut.png").read_bytes()[:-40])
    rows = [
        {"id": number, "name": "Maze", "original_image_path": f"{name}.png", "reference_image_path": "good.png"}
        for number, name in enumerate(("good", "cut", "huge", "good"))
    ]
    (data / "data.json").write_text(json.dumps([row | {"instruction": "Go."} for row in rows]))
    ran = run_editor(data, editor="odd:Kind", out=tmp_path / "out", batch=4)
    assert (ran.edited, [failure.output for failure in ran.failures]) == (2, ["Maze/1", "Maze/2"])
    assert "cannot open" in ran.failures[0].reason and "900000000 pixels" in ran.failures[1].reason


def test_workers_end_with_a_killed_parent(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli) -> None:
    _module(monkeypatch, tmp_path, "slow", SLOW)
    monkeypatch.setenv("SLOW", "0.2")
    out = tmp_path / "out"
    process = cli("edit", dataset, "--editor", "slow:Slow", "--out", out, "--jobs", "2", folder=tmp_path)
    while not list(out.glob("*/*.png")) and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.communicate(timeout=20)  # returns when the last worker has closed the pipe
    assert process.returncode == -9 and len(list(out.glob("*/*.png"))) < 21
    monkeypatch.delenv("SLOW")
    run_editor(dataset, editor="slow:Slow", out=out)
    run_editor(dataset, editor="slow:Slow", out=tmp_path / "whole")
    assert _files(out) == _files(tmp_path / "whole")


def test_a_worker_that_dies_is_one_line(dataset: Path, tmp_path: Path, cli) -> None:
    (tmp_path / "dying.py").write_text(
        "import os\nclass Dying:\n    def edit(self, image, instruction, *, seed):\n        os._exit(3)\n"
    )
    out = tmp_path / "out"
    process = cli("edit", dataset, "--editor", "dying:Dying", "--out", out, "--jobs", "2", folder=tmp_path)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 2
    assert complaint == "gamegen: a worker process died; run the same command again to go on\n"


def test_failures_are_recorded_and_tried_again(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _module(monkeypatch, tmp_path, "faulty", FAULTY)
    mended, out = tmp_path / "mended", tmp_path / "out"
    command = ["edit", str(dataset), "--editor", "faulty:Faulty", "--out", str(out), "--option", f"mended={mended}"]
    assert main([*command, "--json"]) == 1
    first = json.loads(capsys.readouterr().out)
    expected = {s.output_name: seed_of(s) % 3 for s in read_dataset(dataset) if seed_of(s) % 3 < 2}
    lines = [json.loads(line) for line in (out / "failures.jsonl").read_text().splitlines()]
    assert {line["output"] for line in lines} == set(expected) and first["failed"] == len(expected) > 0
    for line in lines:
        words = ("RuntimeError: out of paint", "8 x 8")[expected[line["output"]]]
        assert words in line["reason"] and line["id"]
    mended.touch()
    assert main(command) == 0
    assert "there already" in capsys.readouterr().out
    assert (out / "failures.jsonl").read_text() == ""
    assert len(list(out.glob("*/*.png"))) == 21


def test_a_folder_of_something_else_is_refused(dataset: Path, other_dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_editor(dataset, editor="copy", out=out, limit=2)
    before = _files(out)
    with pytest.raises(BadInput, match="another dataset"):
        run_editor(other_dataset, editor="copy", out=out)
    with pytest.raises(BadInput, match="another editor"):
        run_editor(dataset, editor="oracle", out=out)
    with pytest.raises(BadInput, match="earlier run"):
        run_editor(dataset, editor="copy", out=dataset)
    assert _files(out) == before


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("orcale", {}, "did you mean 'oracle'"),
        ("no_such_module:f", {}, "no_such_module"),
        ("copy:x", {}, "write copy"),
        ("copy", {"steps": 3}, "no options"),
    ],
)
def test_bad_names_and_options_are_refused_before_anything_is_written(
    dataset: Path, tmp_path: Path, name: str, options: dict[str, int], words: str
) -> None:
    for jobs in (1, 2):
        with pytest.raises(BadInput, match=words):
            run_editor(dataset, editor=name, options=options, out=tmp_path / "out", jobs=jobs)
    assert not (tmp_path / "out").exists()
    with pytest.raises(BadInput, match=words):
        build(name, options)


ODD = """
from PIL import Image
class Odd:
    def __init__(self, *, gives):
        self.gives = {"nothing": None, "text": "", "huge": Image.new("1", (30_000, 30_000))}[gives]
    def edit(self, image, instruction, *, seed):
        return self.gives
class Kind:
    def edit(self, image, instruction, *, seed):
        return image
    def edit_batch(self, requests):
        return [each.image for each in requests]
class Batched:
    def edit(self, image, instruction, *, seed):
        if seed % 2:
            raise ValueError("odd")
        return image
    def edit_batch(self, requests):
        return [self.edit(each.image, each.instruction, seed=each.seed) for each in requests]
"""


@pytest.mark.parametrize(
    "gives, words", [("nothing", "returned no picture but None"), ("text", "no picture but ''"), ("huge", "30000 x")]
)
def test_what_is_no_picture_is_a_failure(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gives: str, words: str
) -> None:
    _module(monkeypatch, tmp_path, "odd", ODD)
    ran = run_editor(dataset, editor="odd:Odd", options={"gives": gives}, out=tmp_path / "out", limit=2)
    assert ran.edited == 0 and all(words in failure.reason for failure in ran.failures) and ran.total == 2


def test_one_sample_does_not_spoil_its_batch(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _module(monkeypatch, tmp_path, "odd", ODD)
    ran = run_editor(dataset, editor="odd:Batched", out=tmp_path / "out", batch=7)
    odd = [stored.output_name for stored in read_dataset(dataset) if seed_of(stored) % 2]
    assert 0 < len(odd) < 21 and [failure.output for failure in ran.failures] == odd


def test_entry_points_name_editors(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _module(monkeypatch, tmp_path, "odd", ODD)
    about = tmp_path / "painter-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: painter\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gamegen.editors]\npainter = odd:Batched\n")
    assert type(build("painter")).__name__ == "Batched"


def test_a_category_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (64, 64)).save(data / "a.png")
    row = {"name": "../../evil", "instruction": "Go.", "original_image_path": "a.png", "reference_image_path": "a.png"}
    (data / "data.json").write_text(json.dumps([row]))
    with pytest.raises(BadInput, match="folder name"):
        run_editor(data, editor="copy", out=tmp_path / "out" / "deep")
    assert not (tmp_path / "evil").exists()


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("[]")
    with pytest.raises(BadInput, match="no rows"):
        run_editor(tmp_path, editor="copy", out=tmp_path / "out")


def test_the_prompt_is_rules_and_instruction(dataset: Path) -> None:
    for stored in read_dataset(dataset):
        assert prompt_of(stored.row) == f"{stored.row['rules']} {stored.row['instruction']}"


def test_totals_add_up() -> None:
    assert Ran(Path(), edited=2, kept=3, failures=(), seconds=1.0).total == 5
