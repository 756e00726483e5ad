"""The official release in miniature: all 18 categories as its figure spells them, rules for games only, idx from 1."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from edit_models.editors.run import run_editor
from gamegen.__main__ import main
from gamegen.core.categories import CATEGORIES
from gamegen.core.errors import BadInput
from gamegen.stored import StoredRow, count_rows, read_dataset
from gamegen.uniredit import import_release

REAL = (
    "Viewpoint Transformation", "Pose Adjustment", "Temporal Evolution", "Material Modification",
    "Structural Integrity Change", "Motion State Change", "Mechanical Reaction", "Medium Interaction",
    "Spatial Arrangement",
)  # fmt: skip
GAMES = (
    "3DReconstruction", "Pacman", "Jewel2", "Space Invader", "Maze", "Sokoban", "Tic-tac-toe", "Sudoku", "Word Search",
)  # fmt: skip
EACH = 2


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "UniREditBench"
    rows = []
    for number, name in enumerate((*REAL, *GAMES)):
        for idx in range(1, EACH + 1):
            row: dict[str, Any] = {
                "index": len(rows),
                "original_image_path": f"original_image/{name}/{idx}.png",
                "reference_image_path": f"reference_image/{name}/{idx}.png",
                "instruction": f"Do {idx} to {{this}}.",
                "name": name,
                "idx": idx,
                "reference_effect": f"It is done {idx} times.",
            }
            if name in GAMES:
                row["rules"] = "The rules are simple."
            rows.append(row)
            for kind in ("original", "reference"):
                path = folder / f"{kind}_image" / name / f"{idx}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (64, 48), (number, idx, 7 if kind == "original" else 200)).save(path)
    (folder / "data.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture
def dataset(release: Path, tmp_path: Path) -> Path:
    import_release(release, tmp_path / "dataset")
    return tmp_path / "dataset"


def change(release: Path, edit: Callable[[list[Any]], object]) -> None:
    rows = json.loads((release / "data.json").read_text())
    edit(rows)
    (release / "data.json").write_text(json.dumps(rows))


def test_every_row_arrives_under_the_paper_s_names(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "dataset"
    assert main(["import-uniredit", str(release), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "36 rows of 18 categories" in said and "by a model only" in said and "Maze 2" in said
    stored = list(read_dataset(out))
    assert count_rows(out) == len(stored) == 36
    assert {each.category for each in stored} == set(CATEGORIES) - {"Chess"}
    assert {each.output_name for each in stored} >= {"3D Reconstruction/1", "Tictactoe/2", "Maze/1"}
    for each, row in zip(stored, json.loads((release / "data.json").read_text()), strict=True):
        for column, field in (("original_image", "original_image_path"), ("edited_image", "reference_image_path")):
            assert each.row[column] == (release / row[field]).read_bytes()
        assert each.row["instruction"] == row["instruction"] and each.row["rules"] == row.get("rules", "")
        assert each.row["reference_effect"] == row["reference_effect"]
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert main(["import-uniredit", str(release), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["renamed"] == {
        "3DReconstruction": "3D Reconstruction",
        "Tic-tac-toe": "Tictactoe",
    }
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_it_is_edited_and_its_own_outputs_are_found(dataset: Path, tmp_path: Path) -> None:
    ran = run_editor(dataset, editor="oracle", out=tmp_path / "run")
    assert (ran.edited, ran.failures) == (36, ())
    assert (tmp_path / "run" / "Tictactoe" / "2.png").is_file()
    upstream = tmp_path / "upstream" / "Tic-tac-toe"
    upstream.mkdir(parents=True)
    (upstream / "2.png").write_bytes(b"picture")
    found = [each.output(tmp_path / "upstream") for each in read_dataset(dataset)]
    assert [path for path in found if path] == [upstream / "2.png"]


def test_the_rules_cannot_judge_it_and_say_so(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_editor(dataset, editor="copy", out=tmp_path / "run")
    for command in (["score", "--judge", "exact"], ["verify"]):
        assert main([command[0], str(dataset), str(tmp_path / "run"), *command[1:]]) == 2
        said = capsys.readouterr().err
        assert "--judge vlm" in said and "rules" in said
    assert not (tmp_path / "run" / "scores").exists()
    ran = run_editor(dataset, editor="wrong", out=tmp_path / "wrong", limit=2)
    assert ran.edited == 0 and all("rows of ours" in failure.reason for failure in ran.failures)


def test_a_model_judges_it(dataset: Path, tmp_path: Path) -> None:
    pytest.importorskip("httpx")
    from tests.scoring import faulty

    run_editor(dataset, editor="oracle", out=tmp_path / "run")
    with faulty.serving(lambda number: faulty.says('{"reason": "fine", "score": 4}')) as endpoint:
        options = ["--judge", "both", "--model", "m", "--base-url", endpoint.url]
        assert main(["score", str(dataset), str(tmp_path / "run"), *options]) == 0
        asked = [body["messages"][0]["content"] for _, body in endpoint.seen]
    texts = ["".join(part.get("text", "") for part in parts) for parts in asked]
    assert sum("puzzle" in text for text in texts) == 9 * EACH * 3
    assert any("The rules are simple.\nDo 1 to {this}." in text for text in texts)
    summary = json.loads((tmp_path / "run" / "scores" / "summary.json").read_text())
    assert len(summary["by_category"]) == 18 and len(summary["by_dimension"]) == 8 and summary["exact"] is None
    assert summary["vlm"]["strict"]["percent"]["mean"] == 75


def _cut(release: Path) -> None:
    path = release / "data.json"
    path.write_bytes(path.read_bytes()[:-40])


def _huge(release: Path) -> None:
    """A PNG whose head promises 30,000 x 30,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))
    (release / "original_image/Maze/1.png").write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b""))


def _half(release: Path) -> None:
    path = release / "reference_image/Maze/2.png"
    path.write_bytes(path.read_bytes()[:-30])


def _zipped(release: Path) -> None:
    shutil.rmtree(release / "original_image")
    (release / "original_image.zip").touch()


def _set(**fields: Any) -> Callable[[Path], None]:
    return lambda release: change(release, lambda rows: rows[0].update(fields))


def _drop(field: str) -> Callable[[Path], None]:
    return lambda release: change(release, lambda rows: rows[3].pop(field))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda release: (release / "data.json").unlink(), "no data.json"),
        (_cut, "cut off"),
        (lambda release: (release / "data.json").write_bytes(b"\xff\xfe\x00"), "no JSON"),
        (lambda release: (release / "data.json").write_text("{}"), "a list of rows, not dict"),
        (lambda release: (release / "data.json").write_text("[]"), "has no rows"),
        (lambda release: (release / "data.json").write_text("[" * 100_000), "no JSON"),
        (lambda release: change(release, lambda rows: rows.insert(0, "x")), "row 0: the row"),
        (_drop("instruction"), "row 3: instruction: Field required"),
        (_drop("name"), "row 3: name"),
        (_set(idx="first"), "row 0: idx"),
        (_set(idx=2), "there is another Viewpoint Transformation 2"),
        (_set(name="Maize"), "did you mean 'Maze'"),
        (_set(original_image_path="../../secret.png"), "leaves"),
        (_set(original_image_path="/etc/hostname"), "leaves"),
        (_set(original_image_path="original_image/Maze"), "cannot open"),
        (lambda release: (release / "original_image/Maze/1.png").unlink(), "no such image"),
        (_half, "2.png"),
        (_huge, "900000000 pixels"),
        (_zipped, "unzip"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    release: Path, tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    Image.new("RGB", (64, 64)).save(tmp_path.parent / "secret.png")
    spoil(release)
    with pytest.raises(BadInput, match=message):
        import_release(release, tmp_path / "dataset")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["UniREditBench"]


def test_many_problems_are_counted_and_the_first_named(release: Path, tmp_path: Path) -> None:
    change(release, lambda rows: [row.pop("reference_effect") for row in rows])
    with pytest.raises(BadInput, match=r"36 of 36 rows .*row 0: .*row 4: .*; and 31 more"):
        import_release(release, tmp_path / "dataset")


def test_a_name_we_do_not_know_may_be_told(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(release, lambda rows: [row.update(name="labyrinth_v3") for row in rows if row["name"] == "Maze"])
    command = ["import-uniredit", str(release), "--out", str(tmp_path / "dataset")]
    assert main(command) == 2 and "labyrinth_v3" in capsys.readouterr().err
    assert main([*command, "--alias", "labyrinth_v3"]) == 2 and "NAME=CATEGORY" in capsys.readouterr().err
    assert main([*command, "--alias", "labyrinth_v3=maze"]) == 0
    assert sum(each.category == "Maze" for each in read_dataset(tmp_path / "dataset")) == EACH


def test_a_folder_with_something_else_is_left_alone(release: Path, tmp_path: Path) -> None:
    out = tmp_path / "dataset"
    out.mkdir()
    (out / "thesis.txt").write_text("dear")
    with pytest.raises(BadInput, match="something else"):
        import_release(release, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_two_rows_of_one_name_are_refused_when_read(dataset: Path) -> None:
    change(dataset, lambda rows: rows[1].update(idx=rows[0]["idx"]))
    with pytest.raises(BadInput, match="two rows are Viewpoint Transformation 1"):
        list(read_dataset(dataset))


@pytest.mark.parametrize("row", [{}, {"upstream_name": "../evil"}])
def test_outputs_are_never_looked_for_elsewhere(row: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "evil" / "0.png").write_bytes(b"not theirs")
    category = "Maze" if row else "../evil"
    assert StoredRow(row, category, 0).output(tmp_path / "out") is None
