"""Diffusers pipelines with random weights, saved to disk and loaded as any other would be."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from edit_models.editors.pipelines import ADAPTERS, PipelineEditor
from edit_models.editors.protocol import Request
from edit_models.editors.registry import build
from edit_models.editors.run import run_editor
from gamegen.core.errors import BadInput

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from . import tiny_pipelines

BOARD = Image.radial_gradient("L").resize((64, 64)).convert("RGB")
RED = Image.new("RGB", (64, 64), "red")


@pytest.fixture(scope="module")
def pix2pix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "pix2pix"
    tiny_pipelines.write_pix2pix(folder)
    return folder


seeing = pytest.mark.skipif(find_spec("torchvision") is None, reason="diffusers and transformers want torchvision here")


@pytest.mark.parametrize(
    "write, options, size",
    [
        pytest.param(
            tiny_pipelines.write_kontext,
            {"guidance": 2.5, "max_area": 64 * 64, "_auto_resize": False, "max_sequence_length": 32},
            (64, 64),
            id="FLUX Kontext",
        ),
        pytest.param(
            tiny_pipelines.write_klein,
            {"max_sequence_length": 64, "text_encoder_out_layers": [1, 2, 3], "guidance": 1.0},
            (64, 64),
            id="any pipeline with image and prompt",
        ),
        pytest.param(tiny_pipelines.write_omnigen, {"guidance": 2.0}, (64, 64), marks=seeing, id="OmniGen"),
        pytest.param(
            partial(tiny_pipelines.write_qwen_edit, plus=False),
            {"guidance": 2.0, "height": 64, "width": 64},
            (64, 64),
            marks=seeing,
            id="Qwen-Image-Edit",
        ),
        pytest.param(
            partial(tiny_pipelines.write_qwen_edit, plus=True),
            {"guidance": 2.0, "height": 64, "width": 64},
            (64, 64),
            marks=seeing,
            id="Qwen-Image-Edit-Plus",
        ),
    ],
)
def test_pipelines_are_loaded_and_called_as_they_want_it(
    write: Callable[[Path], None], options: dict[str, object], size: tuple[int, int], tmp_path: Path
) -> None:
    """Picture and seed decide everything, whatever was drawn in between."""
    write(tmp_path / "model")
    editor = build(f"diffusers:{tmp_path / 'model'}", {"steps": 2, **options})
    first, other, again = (editor.edit(picture, "Make it {red}.", seed=1).image for picture in (BOARD, RED, BOARD))
    assert first.size == size
    assert first.tobytes() == again.tobytes() != other.tobytes()


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_table_names_what_the_pipelines_take(name: str) -> None:
    """Also for those that cannot be run without torchvision."""
    adapter = ADAPTERS[name]
    known = inspect.signature(getattr(tiny_pipelines.diffusers, name).__call__).parameters
    wanted = {adapter.image, "prompt", "generator", "num_inference_steps", adapter.guidance, *dict(adapter.always)}
    assert wanted <= set(known)


def test_the_seed_alone_decides_the_noise(pix2pix: Path) -> None:
    editor = build(f"diffusers:{pix2pix}", {"steps": 2, "guidance": 2.0, "image_guidance_scale": 1.2})
    first, again, other = (editor.edit(BOARD, "Make it red.", seed=seed).image for seed in (1, 1, 2))
    assert first.size == (64, 64)
    assert first.tobytes() == again.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    "write, options",
    [
        (tiny_pipelines.write_pix2pix, {}),
        (tiny_pipelines.write_kontext, {"max_area": 64 * 64, "_auto_resize": False, "max_sequence_length": 32}),
    ],
    ids=["InstructPix2Pix", "FLUX Kontext"],
)
def test_a_batch_gives_what_single_edits_give(
    write: Callable[[Path], None], options: dict[str, object], tmp_path: Path
) -> None:
    write(tmp_path)
    editor = build(f"diffusers:{tmp_path}", {"steps": 2, **options})
    calls: list[object] = []
    requests = [Request(BOARD, "Make it red.", 1), Request(RED, "Make it blue, please.", 2)]
    together = [edit.image for edit in _counting(editor, calls).edit_batch(requests)]
    assert len(calls) == 1
    for request, image in zip(requests, together, strict=True):
        alone = editor.edit(request.image, request.instruction, seed=request.seed).image
        far = max(abs(a - b) for a, b in zip(alone.tobytes(), image.tobytes(), strict=True))
        assert far <= 2
    assert together[0].tobytes() != together[1].tobytes()


def _counting(editor: PipelineEditor, calls: list[object]) -> PipelineEditor:
    """The editor, telling of every call of its pipeline."""
    pipeline = editor.pipeline

    def call(**options: object) -> object:
        calls.append(options)
        return pipeline(**options)

    editor.pipeline = call
    return editor


def test_a_run_with_a_pipeline(pix2pix: Path, tmp_path: Path) -> None:
    BOARD.save(tmp_path / "a.png")
    row = {"name": "Maze", "instruction": "Go.", "original_image_path": "a.png", "reference_image_path": "a.png"}
    (tmp_path / "data.json").write_text(json.dumps([row | {"id": "1"}, row | {"id": "2"}, row | {"id": "3"}]))
    ran = run_editor(tmp_path, editor=f"diffusers:{pix2pix}", options={"steps": 1}, out=tmp_path / "out", batch=2)
    assert (ran.edited, ran.failures) == (3, ())
    pictures = {path.name: path.read_bytes() for path in tmp_path.glob("out/Maze/*.png")}
    assert sorted(pictures) == ["0.png", "1.png", "2.png"] and len(set(pictures.values())) == 3


def test_a_pipeline_whose_lists_are_references_is_called_one_by_one(tmp_path: Path) -> None:
    tiny_pipelines.write_klein(tmp_path)
    options = {"steps": 2, "max_sequence_length": 64, "text_encoder_out_layers": [1, 2, 3], "guidance": 1.0}
    editor = build(f"diffusers:{tmp_path}", options)
    requests = [Request(BOARD, "Make it red.", 1), Request(BOARD.rotate(90), "Make it blue.", 2)]
    together = [edit.image for edit in editor.edit_batch(requests)]
    alone = [editor.edit(each.image, each.instruction, seed=each.seed).image for each in requests]
    assert [image.tobytes() for image in together] == [image.tobytes() for image in alone]
    assert together[0].size == (64, 64) and together[0].tobytes() != together[1].tobytes()


def test_bagel_by_name(tmp_path: Path) -> None:
    from edit_models.bagel.tiny import small_config, write_small_checkpoint

    config = small_config(hidden=64, layers=2, pixels=32, patch=4, vit_patch=8)
    write_small_checkpoint(tmp_path, ["Place X in the centre."] * 8, config=config, vocab=300, seed=1)
    editor = build(f"bagel:{tmp_path}", {"points": 3, "think_tokens": 4, "interval": [0.4, 1.0]})
    assert editor.edit(BOARD, "Place X.", seed=1).image.size == (64, 64)
    with pytest.raises(BadInput, match="did you mean 'points'"):
        build(f"bagel:{tmp_path}", {"point": 3})


def test_what_cannot_be_loaded_or_called_is_refused(pix2pix: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot load the pipeline"):
        build(f"diffusers:{tmp_path / 'nowhere'}")
    with pytest.raises(BadInput, match="did you mean 'image_guidance_scale'"):
        build(f"diffusers:{pix2pix}", {"image_guidance_scal": 1})
    with pytest.raises(BadInput, match="unknown dtype"):
        build(f"diffusers:{pix2pix}", {"dtype": "fp8"})
    with pytest.raises(BadInput, match="write diffusers:PATH_OR_NAME"):
        build("diffusers")
