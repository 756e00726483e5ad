"""Diffusers pipelines with random weights, as small as they go, saved as any other would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import diffusers
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel

LETTERS = sorted(ByteLevel.alphabet())


def write_pix2pix(folder: Path) -> None:
    torch.manual_seed(0)
    tokenizer, reader = _clip()
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=16, in_channels=8, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32, norm_num_groups=8, attention_head_dim=8,
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        block_out_channels=[32, 64], latent_channels=4, norm_num_groups=8,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    )  # fmt: skip
    diffusers.StableDiffusionInstructPix2PixPipeline(
        vae=vae, text_encoder=reader, tokenizer=tokenizer, unet=unet,
        scheduler=diffusers.EulerAncestralDiscreteScheduler(), safety_checker=None, feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)  # fmt: skip


def write_klein(folder: Path) -> None:
    torch.manual_seed(0)
    tokenizer = _qwen_tokenizer(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
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


def write_kontext(folder: Path) -> None:
    torch.manual_seed(0)
    tokenizer, reader = _clip()
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(letter, -3.0) for letter in "abcdefghijklmnopqrstuvwxyz."]
    long_tokenizer = transformers.T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=64)
    long_reader = transformers.T5Config(
        d_model=32, d_kv=8, d_ff=37, num_heads=4, num_layers=2, vocab_size=len(long_tokenizer)
    )
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1, in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=32, pooled_projection_dim=32, axes_dims_rope=[4, 4, 8], guidance_embeds=True,
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        sample_size=32, block_out_channels=(4,), layers_per_block=1, latent_channels=1, norm_num_groups=1,
        use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06, scaling_factor=1.5,
    )  # fmt: skip
    diffusers.FluxKontextPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(), text_encoder=reader, tokenizer=tokenizer, vae=vae,
        text_encoder_2=transformers.T5EncoderModel(long_reader), tokenizer_2=long_tokenizer, transformer=transformer,
        image_encoder=None, feature_extractor=None,
    ).save_pretrained(folder)  # fmt: skip


def write_omnigen(folder: Path) -> None:
    torch.manual_seed(0)
    words = ["<unk>", "<s>", "</s>", *LETTERS]
    text = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=[]))
    text.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=text, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    transformer = diffusers.OmniGenTransformer2DModel(
        hidden_size=16, num_attention_heads=4, num_key_value_heads=4, intermediate_size=32, num_layers=1,
        in_channels=4, time_step_dim=4, vocab_size=len(words), pad_token_id=2,
        rope_scaling={"long_factor": [1, 2], "short_factor": [1, 2]},
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        sample_size=32, block_out_channels=(4, 4, 4, 4), layers_per_block=1, latent_channels=4, norm_num_groups=1,
        down_block_types=["DownEncoderBlock2D"] * 4, up_block_types=["UpDecoderBlock2D"] * 4,
    )  # fmt: skip
    diffusers.OmniGenPipeline(
        transformer=transformer, scheduler=diffusers.FlowMatchEulerDiscreteScheduler(invert_sigmas=True), vae=vae,
        tokenizer=tokenizer,
    ).save_pretrained(folder)  # fmt: skip


def write_qwen_edit(folder: Path, *, plus: bool) -> None:
    torch.manual_seed(0)
    processor, reader = _qwen_vl()
    transformer = diffusers.QwenImageTransformer2DModel(
        patch_size=2, in_channels=16, out_channels=4, num_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=32, guidance_embeds=False, axes_dims_rope=(8, 4, 4),
    )  # fmt: skip
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=8, z_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True],
        latents_mean=[0.0] * 4, latents_std=[1.0] * 4,
    )  # fmt: skip
    kind = diffusers.QwenImageEditPlusPipeline if plus else diffusers.QwenImageEditPipeline
    kind(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True), vae=vae, text_encoder=reader,
        tokenizer=processor.tokenizer, processor=processor, transformer=transformer,
    ).save_pretrained(folder)  # fmt: skip


def _clip() -> tuple[Any, Any]:
    words = [*LETTERS, *(letter + "</w>" for letter in LETTERS), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = transformers.CLIPTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77
    )
    config = transformers.CLIPTextConfig(
        hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2, vocab_size=len(tokenizer),
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=0, projection_dim=32,
    )  # fmt: skip
    return tokenizer, transformers.CLIPTextModel(config)


def _qwen_tokenizer(special: list[str]) -> Any:
    words = [*special, *LETTERS]
    return transformers.Qwen2Tokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], eos_token=special[2], pad_token=special[0],
        additional_special_tokens=special[1:],
    )  # fmt: skip


def _qwen_vl() -> tuple[Any, Any]:
    vision = ["vision_start", "vision_end", "vision_pad", "image_pad", "video_pad"]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|{name}|>" for name in vision)]
    tokenizer = _qwen_tokenizer(special)
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{name}|>") for name in vision}
    processor = transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=56 * 56),
        tokenizer=tokenizer, video_processor=transformers.Qwen2VLVideoProcessor(), chat_template="unused",
    )  # fmt: skip
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "vocab_size": len(tokenizer), "max_position_embeddings": 2048,
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1000000.0},
            "bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 0,
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "out_hidden_size": 32,
            "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        image_token_id=ids["image_pad"], video_token_id=ids["video_pad"], vision_start_token_id=ids["vision_start"],
        vision_end_token_id=ids["vision_end"],
    )  # fmt: skip
    return processor, transformers.Qwen2_5_VLForConditionalGeneration(config).eval()
