"""A solution in motion: its actions played one after the other, each position drawn in the sample's own look."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image, features

from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game
from gamegen.core.rendering import Picture
from gamegen.sample import Sample

FORMATS = {".webp": "WEBP", ".gif": "GIF"}
MOST_FRAMES = 60
FIRST_SECONDS, LAST_SECONDS = 1.5, 2.0
LONGEST_STEP, ALL_STEPS = 0.8, 12.0
"""Seconds: how long a frame is shown unless told, and how long all of them together, if that makes it less."""


def replay(sample: Sample) -> tuple[Any, ...]:
    """The position before the solution, then the one after each of its steps (the same if a step is only a thought)."""
    game, positions = sample.plugin.game, [sample.problem.position]
    for step in sample.solution.steps:
        here = positions[-1]
        positions.append(game.apply(here, game.parse_action(step.action)) if step.action else here)
    return tuple(positions)


def frames(sample: Sample, limit: int = MOST_FRAMES) -> list[Picture]:
    """At most `limit` pictures, from the original to the edited one; no two neighbours show the same position.

    Longer solutions skip positions evenly.
    """
    if limit < 2:
        raise BadInput(f"an animation has 2 frames or more, not {limit!r}")
    positions = list(_moments(sample))
    last = len(positions) - 1
    if last >= limit:
        positions = [positions[number * last // (limit - 1)] for number in range(limit)]
    return [sample.plugin.renderer.render(position, sample.style) for position in positions]


def write_animation(sample: Sample, path: Path, *, seconds: float | None = None, limit: int = MOST_FRAMES) -> int:
    """Write the solution as WebP or GIF, as the path's ending says, and return how many frames it has.

    Each frame is shown for `seconds`, the first and the last one longer. The same sample gives the same bytes, as long
    as Pillow stays the same.
    """
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise BadInput(f"an animation's name ends in {' or '.join(FORMATS)}, not {path.name!r}")
    if seconds is not None and not 0.02 <= seconds <= 60:
        raise BadInput(f"seconds per step must be 0.02 to 60, not {seconds!r}")
    if kind == "WEBP" and not features.check("webp"):
        raise BadInput(f"this Pillow cannot write WebP; name a .gif instead of {path.name!r}")
    shown = frames(sample, limit)
    pace = seconds or min(LONGEST_STEP, ALL_STEPS / len(shown))
    durations = [round(1000 * pace)] * len(shown)
    durations[0], durations[-1] = (max(durations[0], round(1000 * long)) for long in (FIRST_SECONDS, LAST_SECONDS))
    _save([_image(picture, kind) for picture in shown], durations, path, kind)
    return len(shown)


def _moments(sample: Sample) -> Iterator[Any]:
    """Every position worth a frame: after each action, and after each part of an action that has parts."""
    game, here = sample.plugin.game, sample.problem.position
    yield here
    for step in sample.solution.steps:
        if not step.action:
            continue
        start = here
        for part in _parts(game.parse_action(step.action)):
            there = _played(game, start, part)
            if there is not None and there != here:
                here = there
                yield here


def _parts(action: Any) -> Iterator[Any]:
    """The action cut short after each of its parts, then whole. Parts are the items of its one tuple (runs, entries,
    squares), or, if it has none, the cells that its field `cells` counts."""
    if is_dataclass(action) and not isinstance(action, type):
        values = {field.name: getattr(action, field.name) for field in fields(action)}
        tuples = [name for name, value in values.items() if type(value) is tuple]
        if len(tuples) == 1:
            (name,) = tuples
            yield from (replace(action, **{name: values[name][:end]}) for end in range(1, len(values[name])))
        elif not tuples and type(values.get("cells")) is int:
            yield from (replace(action, cells=count) for count in range(1, values["cells"]))
    yield action


def _played(game: Game[Any, Any], position: Any, part: Any) -> Any | None:
    """The position after a part of an action; None if the rules know no such part."""
    try:
        return game.apply(position, part)
    except IllegalAction:
        return None


def _image(picture: Picture, kind: str) -> Image.Image:
    if kind == "WEBP":
        return picture.image()
    image = Image.fromarray(picture.pixels, "P")
    image.putpalette(picture.palette.tobytes())
    return image


def _save(images: list[Image.Image], durations: list[int], path: Path, kind: str) -> None:
    """Encoded in memory first, so that no half of a film is ever left behind."""
    options = {"lossless": True, "quality": 60, "method": 3} if kind == "WEBP" else {"optimize": False, "disposal": 1}
    film = io.BytesIO()
    images[0].save(film, kind, save_all=True, append_images=images[1:], duration=durations, loop=0, **options)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(film.getvalue())
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error}") from error
