from __future__ import annotations

import pytest
import torch

from edit_models.bagel.flow import draw_time, guided, noised, shift, timetable, velocity


def test_time_runs_from_data_to_noise() -> None:
    clean, noise = torch.tensor([2.0, -1.0]), torch.tensor([0.5, 3.0])
    assert torch.equal(noised(clean, noise, 0.0), clean)
    assert torch.equal(noised(clean, noise, 1.0), noise)
    step = (noised(clean, noise, 0.7) - noised(clean, noise, 0.2)) / 0.5
    assert torch.allclose(step, velocity(clean, noise))


def test_the_sampler_with_the_true_velocity_arrives_at_the_data() -> None:
    clean, x = torch.tensor([2.0, -1.0]), torch.tensor([0.5, 3.0])
    v = velocity(clean, x)
    steps = list(timetable(50, 3.0))
    for t, t_next in steps:
        x = x - v * (t - t_next)
    assert len(steps) == 49 and steps[0][0] == 1.0 and steps[-1][1] == 0.0
    assert torch.allclose(x, clean, atol=1e-6)


def test_shift_by_hand() -> None:
    assert shift(torch.tensor(0.5), 3.0).item() == pytest.approx(0.75)
    assert shift(torch.tensor(0.2), 1.0).item() == pytest.approx(0.2)


def test_training_times_lean_to_noise() -> None:
    generator = torch.Generator().manual_seed(0)
    plain = [draw_time(generator, 1.0) for _ in range(2000)]
    late = [draw_time(generator, 4.0) for _ in range(2000)]
    assert sum(plain) / 2000 == pytest.approx(0.5, abs=0.02)
    assert sorted(late)[1000] == pytest.approx(0.8, abs=0.02)  # shift(0.5, 4) = 2 / 2.5
    assert min(late) > 0 and max(late) < 1


def test_guidance_by_hand() -> None:
    v, no_text, no_image = torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 4.0]])
    scales = {"text_scale": 2.0, "image_scale": 3.0}
    # Text first: (3, 0) + 2 * (0, 4) = (3, 8). Then image: (0, 4) + 3 * (3, 4) = (9, 16).
    channel = guided(v, no_text, no_image, renorm="channel", **scales)
    assert torch.allclose(channel, torch.tensor([[9.0, 16.0]]) * 5 / (81 + 256) ** 0.5)
    # Shrunk before the image: (3, 8) * 5 / sqrt(73), then (0, 4) + 3 * (that - (0, 4)).
    text = torch.tensor([[3.0, 8.0]]) * 5 / 73**0.5
    expected = no_image + 3 * (text - no_image)
    assert torch.allclose(guided(v, no_text, no_image, renorm="text_channel", **scales), expected)
    assert torch.equal(guided(v, None, None, renorm="global", **scales), v)


def test_global_renorm_keeps_the_ratio_between_tokens() -> None:
    v, no_text = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, 0.0], [0.0, 1.0]])
    out = guided(v, no_text, None, text_scale=3.0, image_scale=1.0, renorm="global")
    # Unnormed (3, 0) and (0, 1): norm sqrt(10) against sqrt(2).
    assert torch.allclose(out, torch.tensor([[3.0, 0.0], [0.0, 1.0]]) * (2 / 10) ** 0.5)
    floor = guided(v, no_text, None, text_scale=3.0, image_scale=1.0, renorm="global", renorm_min=1.0)
    assert torch.allclose(floor, torch.tensor([[3.0, 0.0], [0.0, 1.0]]))
