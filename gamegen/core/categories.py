"""The paper's scenarios, dimensions and categories, and the other spellings they are met in."""

from __future__ import annotations

import re

from gamegen.core.errors import unknown

CATEGORIES: dict[str, tuple[str, str]] = {
    "Viewpoint Transformation": ("real", "Attribute Modification"),
    "Material Modification": ("real", "Attribute Modification"),
    "Pose Adjustment": ("real", "Structure Transform"),
    "Temporal Evolution": ("real", "Structure Transform"),
    "Structural Integrity Change": ("real", "Physical Interaction"),
    "Motion State Change": ("real", "Physical Interaction"),
    "Spatial Arrangement": ("real", "Physical Interaction"),
    "Mechanical Reaction": ("real", "Property Response"),
    "Medium Interaction": ("real", "Property Response"),
    "3D Reconstruction": ("game", "Spatial Intelligence"),
    "Space Invader": ("game", "Strategic Reasoning"),
    "Jewel2": ("game", "Strategic Reasoning"),
    "Pacman": ("game", "Strategic Reasoning"),
    "Word Search": ("game", "Logic Puzzle Solving"),
    "Tictactoe": ("game", "Logic Puzzle Solving"),
    "Sudoku": ("game", "Logic Puzzle Solving"),
    "Maze": ("game", "Long-Horizon Planning"),
    "Sokoban": ("game", "Long-Horizon Planning"),
    "Chess": ("game", "Strategic Reasoning"),  # ours, not the paper's
}
"""category -> (scenario, dimension), in the order and spelling of the paper's table 5."""

_ALIASES = {
    "3dreconstruction": "3D Reconstruction",
    "3dreconstruct": "3D Reconstruction",
    "reconstruction": "3D Reconstruction",
    "spaceinvaders": "Space Invader",
    "jewel": "Jewel2",
    "worldsearch": "Word Search",
    "ticktacktoe": "Tictactoe",
    "materialchange": "Material Modification",
    "viewpointtransform": "Viewpoint Transformation",
}


def category(name: str) -> str:
    """The paper's spelling of a category, from whatever spelling came."""
    folded = re.sub(r"[^a-z0-9]", "", name.lower())
    for known in CATEGORIES:
        if re.sub(r"[^a-z0-9]", "", known.lower()) == folded:
            return known
    if folded in _ALIASES:
        return _ALIASES[folded]
    raise unknown("category", name, CATEGORIES)
