from __future__ import annotations

import math

import pytest
import torch

from edit_models.bagel.losses import flow_loss, text_loss
from edit_models.bagel.recipe import Recipe
from gamegen.core.errors import BadInput


def test_text_loss_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])
    assert text_loss(logits, torch.tensor([0, 1])).item() == pytest.approx(math.log(2) + math.log(4))
    assert text_loss(torch.empty(0, 2), torch.empty(0, dtype=torch.long)).item() == 0


def test_flow_loss_by_hand() -> None:
    velocity, wanted = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    assert flow_loss(velocity, wanted).item() == pytest.approx((1 + 4) / 2 + 9 / 2)
    assert flow_loss(torch.empty(0, 2), torch.empty(0, 2)).item() == 0


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0), (1, 4e-8), (250, 1e-5), (500, 2e-5), (1000, 1.943e-5), (2750, 1.05e-5), (5000, 1e-6)],
)
def test_learning_rate_of_the_paper(step: int, rate: float) -> None:
    assert Recipe("d", "m", "o").learning_rate(step) == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("bad", [{"steps": 0}, {"dtype": "int8"}, {"attention": "flash"}, {"ema": 1.0}])
def test_recipes_are_checked(bad: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=next(iter(bad))):
        Recipe("d", "m", "o", **bad)  # type: ignore[arg-type]
