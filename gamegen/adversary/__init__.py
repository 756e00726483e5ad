"""Pictures made to fool the judge, each with what the rules say of it.

An attack takes a sample and a stream and gives a picture with the verdict it deserves, or None where it would not be
plainly right or plainly wrong. Attacks on positions ask the rules, since a changed answer may happen to be right.
Attacks on pixels are wrong by construction, and say why.
"""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image

from gamegen.adversary import bends, copies, noise, patches, pictures, positions, scrawls, spoils
from gamegen.core.stream import Stream
from gamegen.sample import Sample

Attack = Callable[[Sample, Stream], tuple[Image.Image, bool] | None]

ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for module in (positions, pictures, patches, copies, spoils, scrawls, bends, noise)
    for attack in module.ATTACKS
}
"""Every attack by its name."""

WEIGHTS: dict[str, int] = {
    "gold": 1, "painted": 10, "mutation": 5, "two_mutations": 2, "lazy_mutation": 2, "wrong_move": 3,
    "swapped_cells": 3, "cloned_cell": 3, "other_gold_same_look": 2,
    "copy": 1, "blank": 1, "static": 1, "other_gold": 1, "other_skin": 1, "collage": 2, "partial_edit": 3,
    "overlay": 2, "boast": 2, "thumbnail": 1, "one_cell_off": 1, "mirrored": 1,
    "blot": 3, "ghost_stroke": 4, "pale_stroke": 3, "wiped_label": 2, "wrong_label": 3, "misplaced": 2,
    "wrong_colour": 2, "copied_piece": 4, "spoilt_cell": 4, "scrawl": 5, "bent": 4,
    "murky_mutation": 4, "murky_clone": 3, "double_exposure": 3, "murky_exposure": 3, "adversarial_noise": 2,
}  # fmt: skip
"""How often each attack is made on one sample. Those that are the same every time come once; `painted` has a tenth of
all and more, since right answers must pass as surely as wrong ones fail; `adversarial_noise` asks the judge six times.
"""

BY_NAME = ("murky_exposure", "spoilt_cell")
"""Made only if they are asked for: half of a wrong answer, or a small cell that is a little blurred, in a bad and
small picture, is at the limit of what anybody can see."""

USUAL = tuple(name for name in ATTACKS if name not in BY_NAME)
"""Made if no others are asked for."""
