"""Solutions in motion: every task, from the original picture to the edited one, without a frame that shows nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gamegen
from gamegen.__main__ import main
from gamegen.animate import MOST_FRAMES, frames, replay, write_animation
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.sample import Sample, make_sample


def small(task: str, level: int = 1) -> Sample:
    return make_sample(Key(task, level=level, seed=5, pixels=256))


@pytest.mark.parametrize("task", gamegen.list_tasks())
def test_every_task_moves_from_its_original_to_its_edited_picture(task: str, tmp_path: Path) -> None:
    sample = small(task)
    shown = [picture.rgb() for picture in frames(sample)]
    assert 2 <= len(shown) <= MOST_FRAMES
    assert np.array_equal(shown[0], np.asarray(sample.original)) and np.array_equal(
        shown[-1], np.asarray(sample.edited)
    )
    assert all((one != two).any() for one, two in pairwise(shown))
    assert write_animation(sample, tmp_path / "a.webp") == len(shown)
    with Image.open(tmp_path / "a.webp") as film:
        assert film.format == "WEBP" and film.n_frames == len(shown)  # type: ignore[attr-defined]
        for number, picture in enumerate(shown):
            film.seek(number)
            assert np.array_equal(np.asarray(film.convert("RGB")), picture), number


@pytest.mark.parametrize("name", ["a.webp", "a.GIF"])
def test_the_same_sample_gives_the_same_bytes_and_times(name: str, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_animation(small("sokoban/solve", 3), tmp_path / folder / name, seconds=0.3)
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert [path.name for path in (tmp_path / "one").iterdir()] == [name]
    with Image.open(tmp_path / "one" / name) as film:
        count = film.n_frames  # type: ignore[attr-defined]
        times = []
        for number in range(count):
            film.seek(number)
            film.load()
            times.append(film.info["duration"])
        assert np.array_equal(np.asarray(film.convert("RGB")), np.asarray(small("sokoban/solve", 3).edited))
    assert times == [1500, *[300] * (count - 2), 2000]


def test_a_long_path_is_drawn_run_by_run_in_few_frames() -> None:
    sample = small("maze/path", 5)
    runs = sum(len(step.action.split(" ")) // 2 for step in sample.solution.steps if step.action)
    painted = [str(position).count("*") for position in replay(sample)]
    assert painted == sorted(painted) and painted[0] == 0 and painted[-1] > 100
    whole = len(frames(sample, 10_000))
    assert whole in (runs, runs + 1)  # a last run of one cell only touches the end, and paints nothing
    assert len(frames(sample, whole)) == whole > len(frames(sample)) == MOST_FRAMES and len(frames(sample, 2)) == 2
    assert np.array_equal(frames(sample, 7)[-1].pixels, sample.edited_picture.pixels)


def test_a_box_slides_cell_by_cell() -> None:
    sample = small("sokoban/solve", 4)
    pushed = sum(int(step.action.split(" ")[-1]) for step in sample.solution.steps if step.action.startswith("push"))
    assert pushed > 3 and len(frames(sample)) >= pushed + 1


def test_show_writes_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["show", "tictactoe/best", "--level", "1", "--pixels", "256", "--no-images"]
    assert main([*line, "--out", str(tmp_path), "--animate"]) == 0
    (path,) = tmp_path.iterdir()
    assert path.suffix == ".webp" and f"wrote {path}: 2 frames" in capsys.readouterr().out
    assert main([*line, "--json", "--animate", str(tmp_path / "x" / "move.gif"), "--seconds-per-step", "0.5"]) == 0
    assert "wrote" not in capsys.readouterr().out and (tmp_path / "x" / "move.gif").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--animate a.mp4", ".webp or .gif"),
        ("--animate a.webp --seconds-per-step 0", "seconds per step"),
        ("--animate FILE/a.webp", "cannot write"),
    ],
)
def test_mistakes_are_said(options: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    line = f"show tictactoe/best --no-images {options.replace('FILE', str(tmp_path / 'file'))}"
    assert main(line.split()) == 2
    assert says in capsys.readouterr().err
    with pytest.raises(BadInput):
        frames(small("tictactoe/best"), 1)
