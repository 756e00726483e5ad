"""Can the judge be fooled? Every attack of `gamegen.adversary`, over all levels, and how the judge fared.

It is fooled by an accept that is not deserved, and blind where it refuses what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from PIL import Image

from gamegen.adversary import ATTACKS, USUAL, WEIGHTS
from gamegen.core.errors import unknown
from gamegen.core.key import DEFAULT_PIXELS, LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.registry import plugin_of
from gamegen.sample import Sample, make_sample

SHARED = 16
"""Attacks on one sample at least: making a hard one takes longer than judging it."""

PATIENCE = 20
"""Turns for each attack that is wanted: an attack that a sample does not lend itself to is left out."""


@dataclass(slots=True)
class Tally:
    """How the judge fared against one attack."""

    attempts: int = 0
    deserved: int = 0  # attempts that were right by the rules
    accepted: int = 0
    unreadable: int = 0
    false_accepts: list[str] = field(default_factory=list)
    false_refusals: list[str] = field(default_factory=list)


def audit_task(
    task: str, count: int, *, seed: int = 0, kinds: Sequence[str] = (), pixels: int = DEFAULT_PIXELS
) -> dict[str, Tally]:
    """`count` attacks on a task, the kinds (the USUAL ones, if none are named) by their weights, over all levels.

    One sample suffers every kind before the next one is made. There are fewer only if the kinds seldom apply.
    """
    order = turns(tuple(kinds) or USUAL)
    tallies: dict[str, Tally] = {name: Tally() for name in dict.fromkeys(order)}
    made = 0
    for number in range(PATIENCE * count):
        if made == count:
            break
        lap, place = divmod(number, len(order))
        level, index = LEVELS[(seed + lap) % len(LEVELS)], lap // len(LEVELS)
        sample = _attacked(Key(task, level=level, seed=seed, index=index, pixels=pixels))
        attack = attacked(order[place], sample, number)
        if attack is not None:
            judge(sample, *attack, tallies[order[place]], number)
            made += 1
    return tallies


def turns(kinds: Sequence[str]) -> tuple[str, ...]:
    """The attacks that one sample suffers: every kind once, then again those of more weight, and so on."""
    for name in kinds:
        if name not in ATTACKS:
            raise unknown("attack", name, ATTACKS)
    rounds = range(max(WEIGHTS[name] for name in kinds))
    once = tuple(name for lap in rounds for name in kinds if lap < WEIGHTS[name])
    return once * -(-SHARED // len(once))


def attacked(kind: str, sample: Sample, number: int) -> tuple[Image.Image, bool] | None:
    """The attack of this kind and number, as a failure names it, and whether it is right; None if there is none."""
    return ATTACKS[kind](sample, Stream(sample.id, "attack", number))


@lru_cache(maxsize=1)
def _attacked(key: Key) -> Sample:
    return make_sample(key)


def judge(sample: Sample, image: Image.Image, deserved: bool, tally: Tally, number: int) -> None:
    """Have one picture judged, and count how that went; `number` names the attack beside the sample's id."""
    verdict = verify(sample, image)
    deserved = deserved or (verdict.correct and _is_drawn_right(sample, image, verdict.position))
    tally.attempts += 1
    tally.deserved += deserved
    tally.accepted += verdict.correct
    tally.unreadable += not verdict.readable
    if verdict.correct and not deserved:
        tally.false_accepts.append(f"{sample.id} #{number}")
    if deserved and not verdict.correct:
        tally.false_refusals.append(f"{sample.id} #{number}: {verdict.reason}")


def _is_drawn_right(sample: Sample, image: Image.Image, text: str) -> bool:
    """Whether a picture is, pixel for pixel, how a right position is drawn: then no attack has made it wrong.

    Half of a solution may be another solution, as where the player of Sokoban may stay.
    """
    plugin = sample.plugin
    position = plugin.game.parse(text)
    drawn = plugin.renderer.render(position, sample.style).image()
    same = drawn.size == image.size and drawn.tobytes() == image.convert("RGB").tobytes()
    return same and plugin.solver.check(sample.problem, position).correct


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
