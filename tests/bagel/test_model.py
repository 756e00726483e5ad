"""The model against transformers' own layers, and against itself fed in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from edit_models.bagel.attention import Cache, CachedAttention, FlexAttention, PackedAttention
from edit_models.bagel.model import Bagel, PositionTable, TimeEmbedder
from edit_models.bagel.sequence import Gap, Latents, Patches, Piece, Text
from edit_models.bagel.tokenizer import Tokenizer
from gamegen.core.errors import BadInput


def picture_pieces(model: Bagel, seed: int) -> tuple[Patches, Latents, Latents]:
    """A seen, a clean and a half-noised picture of 4x4, 3x2 and 3x2 tokens."""
    g = torch.Generator().manual_seed(seed)
    seen = Patches(torch.randn(16, model.config.vision.patch_width, generator=g), torch.arange(16))
    index = torch.tensor([0, 1, 4, 5, 8, 9])
    clean = Latents(torch.randn(6, model.config.latent.token_width, generator=g), index)
    noisy = Latents(torch.randn(6, model.config.latent.token_width, generator=g), index, time=0.4, denoise=True)
    return seen, clean, noisy


def edit_sample(model: Bagel, tokenizer: Tokenizer, seed: int) -> list[Piece]:
    seen, clean, noisy = picture_pieces(model, seed)
    return [
        tokenizer.text("Think first."),
        clean,
        seen,
        tokenizer.text("Place X."),
        tokenizer.text("<think>row</think>", learn=True),
        noisy,
    ]


def packed(model: Bagel, tokenizer: Tokenizer, samples: list[list[Piece]], form: type = PackedAttention):
    tokens, layout, _ = model.sequence(samples, tokenizer.markers)
    return model(tokens, form(layout, "cpu"))


def test_position_ids_by_hand(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    seen, clean, noisy = picture_pieces(tiny_model, 0)
    pieces = [Text(tuple(range(7))), clean, seen, Text((1, 2, 3)), Gap(), Text((1, 2)), noisy, clean]
    tokens, _, ends = tiny_model.sequence([pieces], tokenizer.markers)
    expected = [*range(7), *[7] * 8, *[8] * 18, 9, 10, 11, 13, 14, *[15] * 8, *[15] * 8]
    assert tokens.positions.tolist() == expected
    assert ends == [16]
    rows = torch.cat([tokens.text, torch.full((34,), -1)])[tokens.order]  # pictures as -1
    start, end = tokenizer.markers.image_start, tokenizer.markers.image_end
    assert rows.tolist()[7:15] == [start, *[-1] * 6, end]


def test_understanding_path_equals_qwen3_with_biases(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    """On text alone the und side is Qwen2 plus query/key norms, which transformers knows as Qwen3."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    c = tiny_model.config.language
    reference = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=c.vocab,
            hidden_size=c.hidden,
            num_hidden_layers=c.layers,
            num_attention_heads=c.heads,
            num_key_value_heads=c.kv_heads,
            head_dim=c.head_dim,
            intermediate_size=c.intermediate,
            rms_norm_eps=c.eps,
            attention_bias=True,
            tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": c.theta},
        )
    ).eval()
    weights = {k: v for k, v in tiny_model.language_model.state_dict().items() if "_moe_gen" not in k}
    missing, unexpected = reference.load_state_dict(weights, strict=False)
    assert not unexpected and all(name.endswith("o_proj.bias") for name in missing)
    for name, parameter in reference.named_parameters():
        if name.endswith("o_proj.bias"):
            torch.nn.init.zeros_(parameter)
    text = tokenizer.text("The centre wins the row, so X goes there.", learn=True)
    with torch.no_grad():
        ours = packed(tiny_model, tokenizer, [[text]]).logits
        theirs = reference(torch.tensor([text.ids])).logits[0, :-1]
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_vision_equals_siglip(tiny_model: Bagel) -> None:
    from transformers import SiglipVisionConfig, SiglipVisionModel

    c = tiny_model.config.vision
    config = SiglipVisionConfig(
        hidden_size=c.hidden,
        intermediate_size=c.intermediate,
        num_hidden_layers=c.layers,
        num_attention_heads=c.heads,
        image_size=c.patch * c.side,
        patch_size=c.patch,
        layer_norm_eps=c.eps,
        vision_use_head=False,
    )
    reference = SiglipVisionModel(config).eval()
    weights = dict(tiny_model.vit_model.vision_model.state_dict())
    linear = weights["embeddings.patch_embedding.weight"]
    weights["embeddings.patch_embedding.weight"] = linear.reshape(-1, c.patch, c.patch, 3).permute(0, 3, 1, 2)
    prefix = "vision_model." if any(k.startswith("vision_model.") for k in reference.state_dict()) else ""
    reference.load_state_dict({prefix + name: tensor for name, tensor in weights.items()})
    from edit_models.bagel.images import patchify

    image = torch.randn(3, 32, 32, generator=torch.Generator().manual_seed(0))
    patches, index = patchify(image, c.patch, side=c.side, what="test")
    with torch.no_grad():
        twice = tiny_model.vit_model.vision_model(
            torch.cat([patches, patches[:8]]), torch.cat([index, index[:8]]), [16, 8]
        )
        theirs = reference(image[None]).last_hidden_state[0]
    assert torch.allclose(twice[:16], theirs, atol=1e-5)
    assert not torch.allclose(twice[16:], theirs[:8], atol=1e-2), "the second picture must not see the first"


def test_samples_of_a_pack_do_not_see_each_other(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    samples = [edit_sample(tiny_model, tokenizer, seed) for seed in (0, 1)]
    with torch.no_grad():
        both = packed(tiny_model, tokenizer, samples)
        alone = [packed(tiny_model, tokenizer, [sample]) for sample in samples]
    assert torch.allclose(both.logits, torch.cat([x.logits for x in alone]), atol=1e-5)
    assert torch.allclose(both.velocity, torch.cat([x.velocity for x in alone]), atol=1e-5)


def test_flex_form_gives_the_same_answers(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    samples = [edit_sample(tiny_model, tokenizer, seed) for seed in (0, 1)]
    with torch.no_grad():
        dense, flex = (packed(tiny_model, tokenizer, samples, form) for form in (PackedAttention, FlexAttention))
    assert torch.allclose(dense.logits, flex.logits, atol=1e-5)
    assert torch.allclose(dense.velocity, flex.velocity, atol=1e-5)


def test_training_forward_equals_cached_inference(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    """Two samples of different lengths, fed piece by piece through caches, text token by token."""
    samples = [edit_sample(tiny_model, tokenizer, 0), edit_sample(tiny_model, tokenizer, 1)]
    samples[1][3] = tokenizer.text("Place X in the centre.")
    with torch.no_grad():
        whole = packed(tiny_model, tokenizer, samples)
        caches = [Cache(tiny_model.config.language.layers) for _ in samples]
        logits: list[Tensor] = []
        for step in range(5):
            learn = step == 4
            chunks = [[sample[step]] for sample in samples]
            if learn:  # the thinking: one token at a time
                ids = samples[0][4].ids
                assert samples[1][4].ids == ids
                for token in ids:
                    logits.append(feed(tiny_model, tokenizer, caches, [[Text((token,), predict="last")]] * 2).logits)
            else:
                feed(tiny_model, tokenizer, caches, chunks)
        velocity = feed(tiny_model, tokenizer, caches, [[sample[5]] for sample in samples]).velocity
    stepwise = torch.cat([torch.stack([x[i] for x in logits[:-1]]) for i in range(2)])
    assert torch.allclose(whole.logits, stepwise, atol=1e-5)
    assert torch.allclose(whole.velocity, velocity, atol=1e-5)


def feed(model: Bagel, tokenizer: Tokenizer, caches: list[Cache], chunks: list[list[Piece]]):
    tokens, layout, ends = model.sequence(chunks, tokenizer.markers, caches)
    attend = CachedAttention(caches, layout, "cpu")
    out = model(tokens, attend)
    attend.keep()
    for cache, end in zip(caches, ends, strict=True):
        cache.position = end
    return out


@pytest.mark.parametrize("absent", ["words to learn", "seen picture", "target", "all pictures"])
def test_packs_may_lack_a_kind_and_every_weight_still_gets_a_gradient(
    tiny_model: Bagel, tokenizer: Tokenizer, absent: str
) -> None:
    seen, clean, noisy = picture_pieces(tiny_model, 0)
    learn = absent != "words to learn"
    pieces: list[Piece] = [clean, seen, tokenizer.text("Place X.", learn=learn), noisy]
    if absent == "seen picture":
        pieces.remove(seen)
    if absent == "target":
        pieces.remove(noisy)
    if absent == "all pictures":
        pieces = [tokenizer.text("Place X.", learn=True)]
    out = packed(tiny_model, tokenizer, [pieces])
    (out.logits.sum() + out.velocity.sum()).backward()
    assert [name for name, p in tiny_model.named_parameters() if p.grad is None] == []


def test_recomputing_activations_changes_no_gradient(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    def gradients() -> list[Tensor]:
        tiny_model.zero_grad()
        out = packed(tiny_model, tokenizer, [edit_sample(tiny_model, tokenizer, 0)])
        (out.logits.square().mean() + out.velocity.square().mean()).backward()
        return [p.grad.clone() for p in tiny_model.parameters()]

    plain = gradients()
    tiny_model.recompute_activations()
    assert all(torch.equal(a, b) for a, b in zip(plain, gradients(), strict=True))


def test_an_empty_sample_is_refused(tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    with pytest.raises(BadInput, match="no tokens"):
        tiny_model.sequence([[Gap()]], tokenizer.markers)


def test_time_features_by_hand() -> None:
    embedder = TimeEmbedder(4)
    seen = []
    embedder.mlp.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    embedder(torch.tensor([0.0, 0.5]))
    waves = seen[0]
    assert waves[0].tolist() == [1.0] * 128 + [0.0] * 128  # cosines first
    assert waves[1, 0].item() == pytest.approx(0.8775826, abs=1e-6)  # cos(0.5)
    assert waves[1, 128 + 64].item() == pytest.approx(0.0049999, abs=1e-6)  # sin(0.5 * 10000^-0.5)


def test_position_table_by_hand() -> None:
    table = PositionTable(side=3, hidden=8)
    table.fill()
    row2_col1 = table(torch.tensor([7]))[0]
    column, row = torch.tensor([1.0, 0.01]), torch.tensor([2.0, 0.02])  # frequencies 1 and 10000^(-1/2)
    expected = torch.cat([column.sin(), column.cos(), row.sin(), row.cos()])
    assert torch.allclose(row2_col1, expected, atol=1e-6)


def test_double_precision_gradient_check(tiny_folder: Path, tiny_model: Bagel, tokenizer: Tokenizer) -> None:
    """The derivative of the loss along a random direction equals the finite difference."""
    from edit_models.bagel.losses import flow_loss, text_loss

    model = tiny_model.double()
    pieces = edit_sample(model, tokenizer, 0)
    tokens, layout, _ = model.sequence([pieces], tokenizer.markers)
    labels = torch.tensor(pieces[4].ids[1:])
    wanted = torch.randn(6, model.config.latent.token_width, generator=torch.Generator().manual_seed(3)).double()

    def loss() -> Tensor:
        out = model(tokens, PackedAttention(layout, "cpu"))
        return 2 * text_loss(out.logits, labels) / len(labels) + flow_loss(out.velocity, wanted) / len(wanted)

    loss().backward()
    g = torch.Generator().manual_seed(4)
    direction = [torch.randn(p.shape, generator=g, dtype=torch.float64) for p in model.parameters()]
    slope = sum((p.grad * d).sum() for p, d in zip(model.parameters(), direction, strict=True))

    def at(step: float) -> Tensor:
        with torch.no_grad():
            for p, d in zip(model.parameters(), direction, strict=True):
                p.add_(d, alpha=step)
            value = loss()
            for p, d in zip(model.parameters(), direction, strict=True):
                p.sub_(d, alpha=step)
        return value

    numeric = (at(1e-6) - at(-1e-6)) / 2e-6
    assert slope.item() == pytest.approx(numeric.item(), rel=1e-4)
