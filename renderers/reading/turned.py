"""Turned hues: by how much all colours of a picture are turned alike, about grey.

Editors turn the hue of a whole picture, and each hand has its own shade of a colour: red may come half-way to orange,
and one border alone says nothing. But all borders are turned alike, and so is the page, unless it is grey. So that turn
is looked for with which every border has one of the colours that it may have; a smaller one is the likelier.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gamegen.core.rendering import Colour
from renderers.reading.colour import Drift
from renderers.reading.register import Floats

VIVID = 60.0
"""Levels between the strongest and the weakest channel of a pixel whose hue is counted."""

EVERY, FEWEST = 7, 20
"""One pixel of so many is looked at, and so many with a hue are needed."""

TURNS = np.arange(-25, 26)
"""Turns in degrees that are tried: 15 by an editor, and 10 by the hand."""

FAR = 15.0
"""Degrees from which on a hue is just another one."""

UNLIKELY = 0.1
"""Squared degrees by which hues may be off on average, for each squared degree by which they are not turned."""

OTHERWISE, PLAINLY = 12, 6.0
"""Turns that differ by so many degrees make other colours of what is seen; and by how many squared degrees the best one
must be better than any of these."""

OFF = 15.0
"""Squared degrees by which hues may be off on average with the turn that is believed."""

SLIGHT = 6.0
"""A turn of less degrees harms nothing, and is left alone."""

TINTED, FADED = 10.0, 0.7
"""Levels by which a ground must be off grey to have a hue that tells anything, and the share of them that must be left:
what is as bright as can be has lost more, and its hue with it."""

AWAY = np.array([1.0, -0.5 + 0.75**0.5 * 1j, -0.5 - 0.75**0.5 * 1j])
"""Times this, a colour is a number whose angle is the hue and whose size is how far it is from grey."""


def turned(colours: Floats, turn: float) -> Floats:
    """Colours (N, 3) with their hues turned by so many degrees."""
    grey = colours.mean(axis=1, keepdims=True)
    away = (colours @ AWAY) * np.exp(1j * np.radians(turn))
    levels: Floats = grey + np.stack([(away * each.conjugate()).real for each in AWAY], axis=1) * 2 / 3
    return levels.clip(0, 255)


def common_turn(board: Floats, marks: tuple[Colour, ...], likely: float) -> float:
    """By how many degrees the hues of all marks are turned on a board (h, w, 3), where so many are likely; 0 if
    that is not plain to see, or hardly any."""
    red, green, blue = np.ascontiguousarray(board.reshape(-1, 3)[::EVERY].T)
    some = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue) > VIVID
    if np.count_nonzero(some) < FEWEST:
        return 0.0
    away = AWAY[0] * red[some] + AWAY[1] * green[some] + AWAY[2] * blue[some]
    hues = np.bincount(np.rint(np.degrees(np.angle(away))).astype(np.intp) % 360, np.abs(away), 360)
    off = _off(marks) @ (hues / hues.sum())
    cost = off + UNLIKELY * (TURNS - likely) ** 2
    best = int(cost.argmin())
    others = cost[np.abs(TURNS - TURNS[best]) > OTHERWISE]
    plain = off[best] < OFF and others.min() - cost[best] > PLAINLY
    return float(TURNS[best]) if plain and abs(TURNS[best]) >= SLIGHT else 0.0


def turn_of(drift: Drift, given: Floats) -> float:
    """By how many degrees colour drift has turned the hues of given colours (N, 3); 0 if they are too grey to tell."""
    before = given @ AWAY
    if drift.is_none or np.linalg.norm(before) < TINTED:
        return 0.0
    after = 255 * np.linalg.solve(drift.fit[:3].T, (given / 255 - drift.fit[3]).T).T @ AWAY
    change = np.vdot(before, after) / np.vdot(before, before)
    turn = float(np.degrees(np.angle(change)))
    return turn if abs(change) > FADED and abs(turn) <= TURNS.max() else 0.0


@lru_cache(maxsize=64)
def _off(marks: tuple[Colour, ...]) -> Floats:
    """(turns, 360): the squared degrees by which each hue is off the nearest mark, by turn."""
    hues = np.degrees(np.angle(np.array(marks) @ AWAY))
    gaps = np.arange(360) - TURNS[:, None] - hues[:, None, None]
    off: Floats = np.minimum(np.abs((gaps + 180) % 360 - 180).min(axis=0), FAR) ** 2
    return off
