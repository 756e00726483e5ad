from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image

from edit_models.bagel.attention import PackedAttention
from edit_models.bagel.editor import BagelEditor, Settings
from edit_models.bagel.flow import guided, timetable
from edit_models.bagel.images import patchify, picture, pixels, unpatchify
from edit_models.bagel.keyed import generator
from edit_models.bagel.loading import Checkpoint
from edit_models.bagel.model import Bagel
from edit_models.bagel.sequence import Latents, Patches, Text
from edit_models.bagel.tokenizer import Tokenizer
from edit_models.editors.protocol import Request
from gamegen.core.errors import BadInput

QUICK = Settings(points=4, think_tokens=12)


@pytest.fixture
def editor(tiny_model: Bagel, tiny_folder: Path, tokenizer: Tokenizer) -> BagelEditor:
    return BagelEditor(tiny_model, Checkpoint(tiny_folder).autoencoder(), tokenizer, settings=QUICK)


def board(seed: int, size: tuple[int, int] = (32, 32)) -> Image.Image:
    values = torch.rand(3, size[1], size[0], generator=torch.Generator().manual_seed(seed))
    return picture(values * 2 - 1)


def gap(one: bytes, other: bytes) -> int:
    """The largest difference between two pictures, in levels of 255."""
    assert len(one) == len(other)
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def by_hand(editor: BagelEditor, image: Image.Image, words: str, thought: tuple[int, ...] | None, seed: int) -> bytes:
    """The same edit with one full forward per context and step, no cache anywhere."""
    model, tokenizer, s, c = editor.model, editor.tokenizer, editor.settings, editor.config
    clean = Latents(
        *patchify(
            editor.autoencoder.encode(pixels(image, c.vae_size), torch.Generator()), 2, side=c.latent.side, what=""
        )
    )
    seen = Patches(*patchify(pixels(image, c.vit_size), c.vision.patch, side=c.vision.side, what=""))
    prompt = [tokenizer.text(s.think_prompt)] if s.think else []
    think = [Text((tokenizer.markers.start, *thought, tokenizer.markers.end))] if thought is not None else []
    asked = tokenizer.text(words)
    contexts = [[*prompt, clean, seen, asked, *think], [*prompt, clean, seen], [*prompt, asked, *think]]
    x = torch.randn(clean.values.shape, generator=generator(seed, "noise"))
    for t, t_next in timetable(s.points, s.shift):
        v = []
        for context in contexts:
            noisy = Latents(x, clean.index, time=t, denoise=True)
            tokens, layout, _ = model.sequence([[*context, noisy]], tokenizer.markers)
            v.append(model(tokens, PackedAttention(layout, "cpu")).velocity)
        if s.interval[0] < t <= s.interval[1]:
            v[0] = guided(*v, text_scale=s.text_scale, image_scale=s.image_scale, renorm=s.renorm)
        x = x - v[0] * (t - t_next)
    rows = int(clean.index[-1]) // c.latent.side + 1
    return picture(editor.autoencoder.decode(unpatchify(x, 2, rows, len(x) // rows))).tobytes()


@pytest.mark.parametrize("renorm", ["global", "channel", "text_channel"])
@torch.no_grad()
def test_editing_equals_full_forwards(editor: BagelEditor, renorm: str) -> None:
    editor.settings = replace(QUICK, think=False, renorm=renorm, interval=(0.2, 0.95))
    edit = editor.edit(board(0), "Place X.", seed=7)
    assert gap(edit.image.tobytes(), by_hand(editor, board(0), "Place X.", None, 7)) <= 1
    assert edit.thinking == ""


@torch.no_grad()
def test_thinking_is_the_greedy_continuation_and_conditions_the_picture(editor: BagelEditor) -> None:
    editor.settings = replace(QUICK, temperature=0.0)
    kept = []
    think = editor._think
    editor._think = lambda caches, seeds: kept.append(think(caches, seeds)) or kept[-1]  # type: ignore[method-assign]
    edit = editor.edit(board(0), "Place X.", seed=7)
    ids = tuple(kept[0][0])
    assert 0 < len(ids) <= 12
    assert gap(edit.image.tobytes(), by_hand(editor, board(0), "Place X.", ids, 7)) <= 1
    plain = editor.edit(board(1), "Place X.", seed=7)
    assert plain.image.tobytes() != edit.image.tobytes()


@torch.no_grad()
def test_thoughts_of_a_batch_end_each_in_its_own_time(editor: BagelEditor) -> None:
    """Words are dictated here: the first thought ends at once, the second later, the third hits the limit."""
    end = editor.tokenizer.markers.end
    scripts = [[end], [40, 41, end], [50] * 12]
    dictated = iter([script[i] for i in range(12) for script in scripts if i < len(script)])
    editor._choose = lambda logits, random: next(dictated)  # type: ignore[method-assign]
    edits = editor.edit_batch([Request(board(n), "Place X.", n) for n in range(3)])
    for n, script in enumerate(scripts):
        ids = tuple(token for token in script if token != end)
        assert gap(edits[n].image.tobytes(), by_hand(editor, board(n), "Place X.", ids, n)) <= 1
    assert edits[0].thinking == "" and edits[1].thinking != edits[2].thinking


def test_a_batch_of_different_sizes_equals_single_edits(editor: BagelEditor) -> None:
    requests = [Request(board(0), "Place X.", 1), Request(board(1, (32, 16)), "Place O in the centre.", 2)]
    requests.append(Request(board(2, (16, 32)), "X", 3))
    editor.config = replace(editor.config, vae_size=replace(editor.config.vae_size, shortest=8))
    batch = editor.edit_batch(requests)
    for request, together in zip(requests, batch, strict=True):
        alone = editor.edit(request.image, request.instruction, seed=request.seed)
        assert alone.thinking == together.thinking
        assert gap(alone.image.tobytes(), together.image.tobytes()) <= 1
        assert together.image.size == request.image.size


def test_the_seed_decides(editor: BagelEditor) -> None:
    editor.settings = replace(QUICK, temperature=1.0)
    first, again, other = (editor.edit(board(0), "Place X.", seed=seed) for seed in (1, 1, 2))
    assert first.image.tobytes() == again.image.tobytes() and first.thinking == again.thinking
    assert first.image.tobytes() != other.image.tobytes() and first.thinking != other.thinking


def test_bad_settings_are_refused() -> None:
    with pytest.raises(BadInput, match="points"):
        Settings(points=1)
    with pytest.raises(BadInput, match="renorm"):
        Settings(renorm="none")  # type: ignore[arg-type]


def test_editor_loads_from_a_folder(tiny_folder: Path, portable_kernels: None) -> None:
    editor = BagelEditor.load(tiny_folder, device="cpu", dtype="bf16", settings=QUICK)
    assert editor.edit(board(0, (80, 40)), "Place X.", seed=0).image.size == (80, 40)
    editor.settings = replace(QUICK, source_size=False)
    assert editor.edit(board(0, (80, 40)), "Place X.", seed=0).image.size == (32, 16)
    with pytest.raises(BadInput, match="dtype"):
        BagelEditor.load(tiny_folder, dtype="int4")
