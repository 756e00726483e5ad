"""Pictures made to fool the judge, each with what the rules say of it.

An attack takes a sample and a stream and gives a picture with the verdict it deserves, or None where it would not be
plainly right or plainly wrong. Attacks on positions ask the rules, since a changed answer may happen to be right.
Attacks on pixels are wrong by construction, and say why.
"""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image

from gamegen.adversary import noise, patches, pictures, positions
from gamegen.core.stream import Stream
from gamegen.sample import Sample

Attack = Callable[[Sample, Stream], tuple[Image.Image, bool] | None]

ATTACKS: dict[str, Attack] = {
    attack.__name__: attack for module in (positions, pictures, patches, noise) for attack in module.ATTACKS
}
"""Every attack by its name."""
