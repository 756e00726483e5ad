"""Diffusers pipelines with random weights, saved to disk and loaded as any other would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from edit_models.editors.protocol import Request
from edit_models.editors.registry import build
from edit_models.editors.run import run_editor
from gamegen.core.errors import BadInput

torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")

BOARD = Image.radial_gradient("L").resize((64, 64)).convert("RGB")


@pytest.fixture(scope="module")
def pix2pix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers.pre_tokenizers import ByteLevel

    torch.manual_seed(0)
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = transformers.CLIPTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77
    )
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=16, in_channels=8, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32, norm_num_groups=8, attention_head_dim=8,
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        block_out_channels=[32, 64], latent_channels=4, norm_num_groups=8,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    )  # fmt: skip
    reader = transformers.CLIPTextConfig(
        hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2, vocab_size=len(tokenizer),
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    pipeline = diffusers.StableDiffusionInstructPix2PixPipeline(
        vae=vae, text_encoder=transformers.CLIPTextModel(reader), tokenizer=tokenizer, unet=unet,
        scheduler=diffusers.EulerAncestralDiscreteScheduler(), safety_checker=None, feature_extractor=None,
        requires_safety_checker=False,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("models") / "pix2pix"
    pipeline.save_pretrained(folder)
    return folder


def test_the_seed_alone_decides_the_noise(pix2pix: Path) -> None:
    editor = build(f"diffusers:{pix2pix}", {"steps": 2, "guidance": 2.0, "image_guidance_scale": 1.2})
    first, again, other = (editor.edit(BOARD, "Make it red.", seed=seed).image for seed in (1, 1, 2))
    assert first.size == (64, 64)
    assert first.tobytes() == again.tobytes() != other.tobytes()


def test_a_batch_gives_what_single_edits_give(pix2pix: Path) -> None:
    editor = build(f"diffusers:{pix2pix}", {"steps": 2})
    requests = [Request(BOARD, "Make it red.", 1), Request(BOARD.rotate(90), "Make it blue.", 2)]
    together = [edit.image for edit in editor.edit_batch(requests)]
    for request, image in zip(requests, together, strict=True):
        alone = editor.edit(request.image, request.instruction, seed=request.seed).image
        far = max(abs(a - b) for a, b in zip(alone.tobytes(), image.tobytes(), strict=True))
        assert far <= 2
    assert together[0].tobytes() != together[1].tobytes()


def test_a_run_with_a_pipeline(pix2pix: Path, tmp_path: Path) -> None:
    BOARD.save(tmp_path / "a.png")
    row = {"name": "Maze", "instruction": "Go.", "original_image_path": "a.png", "reference_image_path": "a.png"}
    (tmp_path / "data.json").write_text(json.dumps([row | {"id": "1"}, row | {"id": "2"}, row | {"id": "3"}]))
    ran = run_editor(tmp_path, editor=f"diffusers:{pix2pix}", options={"steps": 1}, out=tmp_path / "out", batch=2)
    assert (ran.edited, ran.failures) == (3, ())
    pictures = {path.name: path.read_bytes() for path in tmp_path.glob("out/Maze/*.png")}
    assert sorted(pictures) == ["0.png", "1.png", "2.png"] and len(set(pictures.values())) == 3


def test_a_pipeline_whose_lists_are_references_is_called_one_by_one(tmp_path: Path) -> None:
    _write_klein(tmp_path)
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


def _write_klein(folder: Path) -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    torch.manual_seed(0)
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    words = [*special, *sorted(ByteLevel.alphabet())]
    tokenizer = transformers.Qwen2Tokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], eos_token=special[2], pad_token=special[0]
    )
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    reader = transformers.Qwen3Config(
        hidden_size=16, intermediate_size=16, num_hidden_layers=4, num_attention_heads=2, num_key_value_heads=2,
        head_dim=8, vocab_size=len(tokenizer), max_position_embeddings=512,
    )  # fmt: skip
    transformer = diffusers.Flux2Transformer2DModel(
        patch_size=1, in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=48, timestep_guidance_channels=256, axes_dims_rope=[4, 4, 4, 4], guidance_embeds=False,
    )  # fmt: skip
    vae = diffusers.AutoencoderKLFlux2(
        sample_size=32, down_block_types=("DownEncoderBlock2D",), up_block_types=("UpDecoderBlock2D",),
        block_out_channels=(4,), layers_per_block=1, latent_channels=1, norm_num_groups=1, use_quant_conv=False,
        use_post_quant_conv=False,
    )  # fmt: skip
    diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(), vae=vae, tokenizer=tokenizer, transformer=transformer,
        text_encoder=transformers.Qwen3ForCausalLM(reader),
    ).save_pretrained(folder)  # fmt: skip
