"""Every law, for every game."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gamegen.registry import games
from gamegen.testing import LAWS


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("game", games())
def test_law(game: str, law: Callable[[str, int], None]) -> None:
    law(game, 2)
