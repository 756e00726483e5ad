"""A game, whole: its rules, its solver, its renderer and its words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gamegen.core.game import Game
from gamegen.core.rendering import Renderer
from gamegen.core.solver import Solver


@dataclass(frozen=True, slots=True)
class Plugin:
    """What an entry point of group `gamegen.games` names, and what the registry makes of our own files."""

    game: Game[Any, Any]
    solver: Solver[Any]
    renderer: Renderer[Any]
    words: Path
