"""The exact judge: read the picture back into a position, then ask the rules. No model, and only the row is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import orjson

from gamegen.core.errors import BadInput, BoardNotFound, UnreadableImage
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Check, Problem
from gamegen.core.rendering import Pixels, Reading, Renderer, Style
from gamegen.core.verdict import Verdict
from gamegen.images import Source, load_rgb
from gamegen.registry import plugin_of
from renderers.reading.bars import without_bars
from renderers.reading.bent import FULLY, PLAINLY, RATHER, SLIGHTLY, Demand, Press
from renderers.reading.drawn import is_as_drawn, likeness

PARSED, PRESSES = 512, 16
"""How many rows are kept as they were understood, and what is prepared for ironing their pictures: these come in groups
of one row."""


def verify(row: Mapping[str, Any], image: Source | None) -> Verdict:
    """Judge an edited picture by the rules. A missing or unreadable picture is a verdict, not an exception.

    `row` is a sample, its row, or the same from a file. `image` is a PIL image, encoded bytes, a path or an array, any
    size; None means that the editor gave nothing.
    """
    problem, style = problem_of(row)
    if image is None:
        return _unreadable("There is no picture.")
    plugin, _ = plugin_of(str(row["task"]))
    ask = cache(partial(plugin.solver.check, problem))
    try:
        reading = look(plugin, problem, style, image, ask)
        check = ask(reading.position)
        stain = reading.stain if check.correct else ""
    except UnreadableImage as error:
        return _unreadable(style.told(f"The picture cannot be read: {error}."))
    except (KeyError, IndexError, TypeError) as error:  # a row that no generator of ours wrote
        raise BadInput(f"row {row.get('id')!r} cannot be judged: {error!r}") from error
    reason = check.reason
    if stain:
        reason = f"The answer is right, but something foreign was drawn over {stain}."
    return Verdict(
        correct=check.correct and not stain,
        legal=check.legal,
        readable=True,
        preserved=check.preserved,
        quality=reading.quality,
        confidence=reading.confidence,
        reason=style.told(reason),
        position=str(reading.position),
        parts=dict(check.parts),
    )


def read(row: Mapping[str, Any], image: Source) -> str:
    """The position seen in a picture, as text; raises UnreadableImage."""
    problem, style = problem_of(row)
    plugin, _ = plugin_of(str(row["task"]))
    return str(look(plugin, problem, style, image).position)


def look(
    plugin: Plugin, problem: Problem[Any], style: Style, image: Source, ask: Callable[[Any], Check] | None = None
) -> Reading[Any]:
    """What the reader sees in a picture from outside; raises UnreadableImage.

    Bars around it are taken off. What is plainly our own drawing of what it shows needs no reading, and a right answer
    that proves to be no closer look. A picture that is plainly bent is ironed before it is believed. One that seems to
    change what was given, has something foreign on it or is unreadable may only be bent: then less of a bend is enough.
    What the rules say about a position is asked for with `ask`, by whoever wants to know it, too.
    """
    renderer, ask = plugin.renderer, ask or partial(plugin.solver.check, problem)

    def drawn(position: Any) -> Pixels:
        return renderer.render(position, style).rgb()

    pixels = load_rgb(image, ground=style.page)
    page = without_bars(pixels, style.page, lambda: drawn(problem.position))
    if (found := renderer.glance(page, problem, style)) is not None:
        ours = drawn(found)
        if is_as_drawn(page, ours):
            return Reading(found, 1.0, likeness(page, ours), is_still=True)

    def ironed(demand: Demand, seen: Reading[Any] | UnreadableImage) -> Reading[Any] | None:
        answer = partial(drawn, seen.position) if isinstance(seen, Reading) else None
        flat = _press(renderer, problem, style).ironed(page, demand, seen.matrix, answer)
        try:
            return None if flat is None else renderer.read(flat, problem, style)
        except UnreadableImage:
            return None

    try:
        reading = renderer.read(page, problem, style)
    except BoardNotFound:
        raise
    except UnreadableImage as error:
        if flat := ironed(SLIGHTLY, error):
            return flat
        raise
    if reading.is_still:
        return replace(reading, find_stain=lambda: "" if is_as_drawn(page, drawn(reading.position)) else reading.stain)
    check = ask(reading.position)
    if check.correct and is_as_drawn(page, drawn(reading.position), reading.matrix):
        return replace(reading, find_stain=str)
    if flat := ironed(PLAINLY if check.preserved == 1.0 else RATHER, reading):
        return flat
    return replace(reading, find_stain=partial(_stain, reading, ironed))


def _stain(reading: Reading[Any], ironed: Callable[[Demand, Reading[Any]], Reading[Any] | None]) -> str:
    """That of a reading; or, if the same position is read once the picture is ironed, that one's.

    Bends look like noise, which may hide a stroke: one is ironed where nothing was found, too, if that flattens it.
    """
    error, found = None, ""
    try:
        found = reading.stain
    except UnreadableImage as raised:
        error = raised
    flat = ironed(SLIGHTLY if found or error else FULLY, reading)
    if flat is not None and flat.position == reading.position:
        return flat.stain
    if error is not None:
        raise error
    return found


@lru_cache(maxsize=PRESSES)
def _press(renderer: Renderer[Any], problem: Problem[Any], style: Style) -> Press:
    return Press(renderer.render(problem.position, style).rgb(), renderer.shaky(problem, style))


def problem_of(row: Mapping[str, Any]) -> tuple[Problem[Any], Style]:
    """What was asked, and in which look: the part of a row that judging needs; raises BadInput if it is not there."""
    missing = [name for name in ("task", "position_before", "params", "style") if row.get(name) is None]
    if missing:
        raise BadInput(
            f"the row lacks {', '.join(missing)}; it has {', '.join(map(str, row))}. Rows from elsewhere have no"
            " rules to be judged by; a model can judge them: gamegen score --judge vlm"
        )
    texts = str(row["task"]), str(row["position_before"]), row["params"], str(row["style"])
    try:
        return _parsed(*texts) if isinstance(row["params"], str) else _parsed.__wrapped__(*texts)
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise BadInput(f"row {row.get('id')!r}: params is not a JSON object: {row['params']!r}") from error


@lru_cache(maxsize=PARSED)
def _parsed(task: str, position: str, params: str, style: str) -> tuple[Problem[Any], Style]:
    plugin, kind = plugin_of(task)
    asked = orjson.loads(params)
    return Problem(kind, plugin.game.parse(position), tuple(asked.items())), Style.from_json(style)


def _unreadable(reason: str) -> Verdict:
    return Verdict(
        correct=False, legal=False, readable=False, preserved=0.0, quality=0.0, confidence=0.0, reason=reason
    )
