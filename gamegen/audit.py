"""The adversary: pictures made to fool the judge, and what the rules say of each.

An attack takes a sample and a stream and gives a picture with the verdict it deserves. Attacks on positions ask the
rules (a mutation may happen to be right); attacks on pixels are wrong by construction, and an attack that happened to
come out right, or nearly so, is not made. A judge is fooled by an accept that is not deserved; it is blind where it
refuses what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from gamegen.core.errors import unknown
from gamegen.core.key import LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.registry import plugin_of
from gamegen.sample import Sample, make_sample

SHARED = 16
"""Attacks that share a sample, at least: making a hard one takes longer than judging it."""

SAME_LOOK = 30.0
"""Two skins whose pictures differ by less (mean grey levels) look the same to a judge that forgives colour drift."""

Made = tuple[Image.Image, bool] | None
Attack = Callable[[Sample, Stream], Made]


@dataclass(slots=True)
class Tally:
    """How the judge fared against one attack."""

    attempts: int = 0
    deserved: int = 0  # attempts that were right by the rules
    accepted: int = 0
    unreadable: int = 0
    false_accepts: list[str] = field(default_factory=list)
    false_refusals: list[str] = field(default_factory=list)


def audit_task(task: str, count: int, *, seed: int = 0, kinds: Sequence[str] = ()) -> dict[str, Tally]:
    """`count` attacks on a task, the kinds in turn (all, if none are named), over all levels.

    One sample suffers every kind before the next one is made.
    """
    names = tuple(kinds) or tuple(ATTACKS)
    for name in names:
        if name not in ATTACKS:
            raise unknown("attack", name, ATTACKS)
    tallies: dict[str, Tally] = {name: Tally() for name in names}
    for number in range(count):
        lap, place = divmod(number, max(len(names), SHARED))
        sample = _attacked(Key(task, level=LEVELS[lap % len(LEVELS)], seed=seed, index=lap // len(LEVELS)))
        name = names[place % len(names)]
        made = ATTACKS[name](sample, Stream(sample.id, "attack", number))
        if made is not None:
            judge(sample, *made, tallies[name])
    return tallies


@lru_cache(maxsize=1)
def _attacked(key: Key) -> Sample:
    return make_sample(key)


def judge(sample: Sample, image: Image.Image, deserved: bool, tally: Tally) -> None:
    """Have one picture judged, and count how that went."""
    verdict = verify(sample, image)
    tally.attempts += 1
    tally.deserved += deserved
    tally.accepted += verdict.correct
    tally.unreadable += not verdict.readable
    if verdict.correct and not deserved:
        tally.false_accepts.append(sample.id)
    if deserved and not verdict.correct:
        tally.false_refusals.append(f"{sample.id}: {verdict.reason}")


# Attacks on positions: the rules say what they deserve ---------------------------------------------------------------


def gold(sample: Sample, rng: Stream) -> Made:
    """The right answer itself."""
    return sample.edited, True


def mutation(sample: Sample, rng: Stream) -> Made:
    """The right answer with one cell changed."""
    return _shown(sample, sample.plugin.game.mutate(sample.solution.after, rng))


def two_mutations(sample: Sample, rng: Stream) -> Made:
    game = sample.plugin.game
    return _shown(sample, game.mutate(game.mutate(sample.solution.after, rng), rng))


def lazy_mutation(sample: Sample, rng: Stream) -> Made:
    """The picture as it was, with one cell changed: a guess."""
    return _shown(sample, sample.plugin.game.mutate(sample.problem.position, rng))


def wrong_move(sample: Sample, rng: Stream) -> Made:
    """A legal action, but any."""
    game = sample.plugin.game
    actions = [action for action, _ in zip(game.actions(sample.problem.position), range(200), strict=False)]
    if not actions:
        return None
    return _shown(sample, game.apply(sample.problem.position, rng.choice(actions)))


def _shown(sample: Sample, position: Any) -> Made:
    deserved = sample.plugin.solver.check(sample.problem, position).correct
    return sample.plugin.renderer.render(position, sample.style).image(), deserved


# Attacks on pixels: wrong by construction ----------------------------------------------------------------------------


def copy(sample: Sample, rng: Stream) -> Made:
    return sample.original, False


def blank(sample: Sample, rng: Stream) -> Made:
    colour = rng.choice(("white", "black", "grey"))
    return Image.new("RGB", (sample.key.pixels, sample.key.pixels), colour), False


def static(sample: Sample, rng: Stream) -> Made:
    """Nothing but noise, or the original under so much of it."""
    grain = np.random.default_rng(rng.below(2**32)).normal(0, 60, (sample.key.pixels, sample.key.pixels, 3))
    ground = np.asarray(sample.original, float) if rng.chance(0.5) else 128.0
    return Image.fromarray((ground + grain).clip(0, 255).astype(np.uint8)), False


def other_gold(sample: Sample, rng: Stream) -> Made:
    """The right answer of another sample, in that sample's look."""
    other = _sibling(sample, rng, skin=sample.key.skin)
    if _fits(sample, other.solution.after):
        return None
    return other.edited, False


def other_gold_same_look(sample: Sample, rng: Stream) -> Made:
    """The right answer of another sample, in this sample's look."""
    other = _sibling(sample, rng, skin=sample.key.skin)
    picture = sample.plugin.renderer.render(other.solution.after, sample.style)
    return picture.image(), _fits(sample, other.solution.after)


def other_skin(sample: Sample, rng: Stream) -> Made:
    """The right answer, drawn anew in another skin: nothing of the picture was kept."""
    skins = [skin for skin in sample.plugin.renderer.skins if skin != sample.style.skin]
    if not skins:
        return None
    key = Key(**{name: getattr(sample.key, name) for name in Key.__slots__} | {"skin": rng.choice(skins)})
    drawn = make_sample(key).edited
    gap = np.abs(np.asarray(drawn, np.int16) - np.asarray(sample.edited, np.int16)).mean()
    return None if gap < SAME_LOOK else (drawn, False)


def collage(sample: Sample, rng: Stream) -> Made:
    """One half of the answer, one half of the original."""
    before, after = np.asarray(sample.original), np.asarray(sample.edited)
    cut = rng.between(sample.key.pixels // 4, 3 * sample.key.pixels // 4)
    mixed = before.copy()
    if rng.chance(0.5):
        mixed[:cut] = after[:cut]
    else:
        mixed[:, cut:] = after[:, cut:]
    edit = (before != after).any(axis=2)
    if (mixed != before).any(axis=2)[edit].mean() > 0.5:  # most of the edit is there, which may be enough
        return None
    return Image.fromarray(mixed), False


def overlay(sample: Sample, rng: Stream) -> Made:
    """The answer, half transparent over the original."""
    share = rng.choice((0.3, 0.5))
    return Image.blend(sample.original, sample.edited, share), False


def boast(sample: Sample, rng: Stream) -> Made:
    """The original with CORRECT written on it."""
    image = sample.original
    place = rng.between(0, image.width // 2), rng.between(0, image.height - 40)
    ImageDraw.Draw(image).text(place, "CORRECT", fill=_loud(image, place), font_size=image.width // 12)
    return image, False


def one_cell_off(sample: Sample, rng: Stream) -> Made:
    """The answer, moved sideways by a tenth: everything is there, nothing where it belongs."""
    step = sample.key.pixels // 9
    return Image.fromarray(np.roll(np.asarray(sample.edited), rng.choice((step, -step)), axis=rng.below(2))), False


def mirrored(sample: Sample, rng: Stream) -> Made:
    """The answer, flipped."""
    ways = (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.ROTATE_180)
    way = rng.choice(ways)
    if _close(sample.original.transpose(way), sample.original):  # a symmetric board has symmetric answers
        return None
    return sample.edited.transpose(way), False


def blot(sample: Sample, rng: Stream) -> Made:
    """The answer with a loud blot of a tenth of the side somewhere."""
    image = sample.edited
    side = image.width // 10
    left, top = rng.below(image.width - side), rng.below(image.height - side)
    ImageDraw.Draw(image).ellipse((left, top, left + side, top + side), fill=_loud(image, (left, top)))
    return image, False


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        gold,
        mutation,
        two_mutations,
        lazy_mutation,
        wrong_move,
        copy,
        blank,
        static,
        other_gold,
        other_gold_same_look,
        other_skin,
        collage,
        overlay,
        boast,
        one_cell_off,
        mirrored,
        blot,
    )
}


def _sibling(sample: Sample, rng: Stream, *, skin: str | None) -> Sample:
    key = sample.key
    return make_sample(
        Key(key.task, key.split, key.level, key.seed + 1, rng.below(10_000), skin=skin, pixels=key.pixels)
    )


def _fits(sample: Sample, position: Any) -> bool:
    return sample.plugin.solver.check(sample.problem, position).correct


def _close(one: Image.Image, other: Image.Image) -> bool:
    """Whether two pictures are the same but for labels and the like."""
    gap = np.abs(np.asarray(one, np.int16) - np.asarray(other, np.int16)).max(axis=2)
    return bool((gap > 60).mean() < 0.015)


def _loud(image: Image.Image, place: tuple[int, int]) -> tuple[int, int, int]:
    """A colour that stands out from the whole picture: the candidate farthest from its colours there."""
    box = (place[0], place[1], min(image.width, place[0] + 60), min(image.height, place[1] + 60))
    there = np.asarray(image.crop(box), float).reshape(-1, 3)
    candidates = [(255, 0, 255), (0, 255, 255), (255, 255, 0), (255, 255, 255), (0, 0, 0), (255, 120, 0)]
    gaps = [np.abs(there - candidate).max(axis=1).min() for candidate in candidates]
    return candidates[int(np.argmax(gaps))]


def total(tallies: dict[str, Tally]) -> Tally:
    """All attacks together."""
    whole = Tally()
    for tally in tallies.values():
        whole.attempts += tally.attempts
        whole.deserved += tally.deserved
        whole.accepted += tally.accepted
        whole.unreadable += tally.unreadable
        whole.false_accepts += tally.false_accepts
        whole.false_refusals += tally.false_refusals
    return whole


def check_row(row: dict[str, Any], other: Image.Image | None) -> list[str]:
    """What is wrong with a stored row: it must rebuild from its id, its gold must pass, and cheap tricks must not."""
    wrong = []
    sample = make_sample(str(row["id"]))
    for column in ("instruction", "position_before", "position_after", "original_image", "edited_image"):
        if column in row and row[column] != sample[column]:
            wrong.append(f"{column} is not what the id rebuilds")
    if not verify(row, row["edited_image"]).correct:
        wrong.append("its own answer is refused")
    tricks = {"its original": row["original_image"], "a blank": Image.new("RGB", (512, 512), "white"), "nothing": None}
    for name, image in tricks.items():
        if verify(row, image).correct:
            wrong.append(f"{name} is accepted")
    if other is not None:
        verdict = verify(row, other)
        plug, _ = plugin_of(str(row["task"]))
        if verdict.correct and verdict.position != row["position_after"]:
            fits = plug.solver.check(sample.problem, plug.game.parse(verdict.position)).correct
            wrong += [] if fits else ["another sample's answer is accepted"]
    return wrong


def merge(first: dict[str, Tally], second: dict[str, Tally]) -> dict[str, Tally]:
    return {name: total({"a": first[name], "b": second[name]}) for name in first}
