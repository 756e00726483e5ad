"""Pictures: made once, made again when they are gone, by anybody's generator and editor."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from edit_models.generators.registry import GENERATORS
from gamegen.__main__ import main
from realworld.run import STAGES, Run

from .conftest import PAINTER
from .painter import Painter
from .test_flow import journals, pictures

AGAIN = ["--generator", PAINTER, "--editor", PAINTER, "--candidates", "2"]


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_a_picture_that_is_gone_is_made_again(run: Path, finished: Path, says: Callable[..., str]) -> None:
    gone = next(Run.open(run).candidates())
    gone.original.unlink()
    gone.edited.unlink()
    assert f"{gone.original} cannot be exported" in says("export", run, "--unreviewed")
    assert main(["real", "pairs", str(run), *AGAIN]) == 0
    assert journals(run) == journals(finished) and pictures(run) == pictures(finished)


def test_what_was_made_of_another_picture_does_not_count(run: Path, endpoint: str) -> None:
    """An original that is drawn anew and comes out otherwise takes its edits, reasoning and scores with it."""
    triple = next(Run.open(run).candidates()).id.rpartition("-")[0]
    path = run / STAGES["pairs"]
    (run / "images" / triple / "original.png").unlink()
    path.write_bytes(path.read_bytes().replace(b'"seed":0}', b'"seed":1}', 1))
    pairs = {pair.id for pair in Run.open(run).pairs()}
    assert main(["real", "pairs", str(run), *AGAIN, "--seed", "1"]) == 0
    again = Run.open(run)
    assert {pair.id for pair in again.pairs()} == pairs
    assert {pair.id for pair in again.pairs()} - {pair.id for pair in again.reasoned()} == {
        f"{triple}-1",
        f"{triple}-2",
    }
    assert triple not in {each.id.rpartition("-")[0] for each in again.candidates()}
    ask = ["--model", "m", "--base-url", endpoint]
    assert main(["real", "reason", str(run), *ask]) == 0
    assert {pair.id for pair, _ in Run.open(run).judged()} == pairs - {f"{triple}-1", f"{triple}-2"}, "old scores"
    assert main(["real", "filter", str(run), *ask]) == 0
    assert {pair.id for pair, _ in Run.open(run).judged()} == pairs


def test_the_editor_is_told_the_effect_and_the_seed_is_the_candidate_s(run: Path) -> None:
    """The painter's colours follow from what it is told, so what it was told can be found out."""
    for pair in Run.open(run).pairs():
        seed = Run.open(run).results("pairs")[pair.id]["seed"]
        told = f"{pair.triple.instruction}\n{pair.triple.effect}"
        drawn = Painter().edit(Image.open(pair.original), told, seed=seed)
        assert drawn.tobytes() == Image.open(pair.edited).convert("RGB").tobytes()
    seeds = [result["seed"] for result in Run.open(run).results("pairs").values()]
    assert len(set(seeds)) == len(seeds)


def test_more_candidates_only_add(run: Path, finished: Path) -> None:
    assert main(["real", "pairs", str(run), *AGAIN[:-1], "3"]) == 0
    assert len(list(Run.open(run).pairs())) == len(list(Run.open(finished).pairs())) * 3 // 2
    kept = pictures(finished)
    assert {name: data for name, data in pictures(run).items() if name in kept} == kept


def test_a_failure_is_named_and_tried_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two descriptions are such that the generator refuses them, until it does not."""
    (run / STAGES["pairs"]).unlink()
    shutil.rmtree(run / "images")
    unique = run / STAGES["dedup"]
    whole = unique.read_bytes()
    lines = whole.splitlines(keepends=True)
    refused = [line.replace(b'"description":"', b'"description":"refused ') for line in lines[1:3]]
    unique.write_bytes(b"".join([lines[0], *refused, *lines[3:]]))
    capsys.readouterr()
    assert main(["real", "pairs", str(run), *AGAIN]) == 1
    assert "2 failed, as" in capsys.readouterr().out
    assert main(["real", "status", str(run)]) == 0
    assert "pairs: 2 x ValueError: no such picture" in capsys.readouterr().out
    unique.write_bytes(whole)
    assert main(["real", "pairs", str(run), *AGAIN]) == 0
    assert "6 done" in capsys.readouterr().out
    assert "failure" not in (run / STAGES["pairs"]).read_text()


def test_what_fails_everything_stops_the_stage(run: Path, says: Callable[..., str]) -> None:
    (run / STAGES["pairs"]).unlink()
    unique = run / STAGES["dedup"]
    unique.write_bytes(unique.read_bytes().replace(b'"description":"', b'"description":"refused '))
    assert "10 failures in a row, so the stage stops; the last: ValueError: no such picture" in says(
        "pairs", run, *AGAIN
    )


def test_mistakes_are_named_before_anything_is_made(run: Path, says: Callable[..., str]) -> None:
    (run / STAGES["pairs"]).unlink()
    nobody, where = "tests.realworld.painter:nobody", ["pairs", run, "--generator"]
    assert "which has no generate()" in says(*where, nobody, "--editor", PAINTER)
    assert "which has no edit()" in says(*where, PAINTER, "--editor", "copy")
    assert "did you mean 'diffusers'" in says(*where, "difusers", "--editor", PAINTER)
    assert "write openai:MODEL" in says(*where, "openai", "--editor", PAINTER)
    assert "it takes the options tone" in says(*where, PAINTER, "--generator-option", "tune=1", "--editor", PAINTER)
    assert "NAME=VALUE, not 'tone'" in says(*where, PAINTER, "--generator-option", "tone", "--editor", PAINTER)
    other = ["--generator-option", "tone=2", "--editor", PAINTER]
    assert main(["real", "pairs", str(run), *AGAIN]) == 0
    assert "belongs to a run with other generator_options" in says(*where, PAINTER, *other)


def test_a_pipeline_draws_and_edits(run: Path, tmp_path: Path) -> None:
    """One tiny checkpoint of diffusers does both; what it draws is decided by the seed."""
    pytest.importorskip("diffusers")
    from tests.editors.tiny_pipelines import write_klein

    write_klein(tmp_path / "klein")
    (run / STAGES["pairs"]).unlink()
    lines = (run / STAGES["dedup"]).read_bytes().splitlines(keepends=True)
    (run / STAGES["dedup"]).write_bytes(b"".join(lines[:3]))
    options = ["height=64", "width=64", "steps=2", "max_sequence_length=64", "text_encoder_out_layers=[1,2,3]"]
    model = f"diffusers:{tmp_path / 'klein'}"
    command = ["real", "pairs", str(run), "--generator", model, "--editor", model]
    command += [word for option in options for kind in ("generator", "editor") for word in (f"--{kind}-option", option)]
    assert main(command) == 0
    first = pictures(run)
    shutil.rmtree(run / "images")
    assert main(command) == 0
    assert {name: data for name, data in first.items() if name in pictures(run)} == pictures(run) != {}


def test_a_server_s_generator_sends_what_it_should(endpoint: str) -> None:
    pytest.importorskip("httpx")
    model = GENERATORS.build("openai:m", {"base_url": endpoint, "send_seed": True})
    one, other = model.generate("a cat", seed=1), model.generate("a cat", seed=2)
    assert one.size == other.size == (48, 48) and one.tobytes() != other.tobytes()
