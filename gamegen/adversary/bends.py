"""Attacks by bending: wrong pictures that look as if they had been redrawn, so that the judge irons them."""

from __future__ import annotations

from gamegen.adversary import patches, pictures, positions, scrawls
from gamegen.adversary.positions import Made
from gamegen.core.stream import Stream
from gamegen.perturb import bend
from gamegen.sample import Sample

WRONG = (
    positions.mutation, positions.two_mutations, positions.wrong_move, positions.swapped_cells, positions.cloned_cell,
    pictures.collage, pictures.boast, patches.blot, patches.misplaced, scrawls.scrawl,
)  # fmt: skip
"""What is bent: nothing so thin that it is forgiven in pictures that were drawn anew."""


def bent(sample: Sample, rng: Stream) -> Made:
    """A wrong answer, or a right one with something drawn on it, bent by up to 3 px of 512 here and there."""
    made = rng.choice(WRONG)(sample, rng)
    if made is None or made[1]:
        return None
    return bend(made[0].convert("RGB"), rng.random(), rng), False


ATTACKS = (bent,)
