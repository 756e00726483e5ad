"""The lines between the squares of a silhouette: whether a bar was drawn along one, in a colour that is there anyway.

Whoever fills or wipes squares may cover the lines around them with the new colour, and may leave some of the old one
beside them. But across a line, nothing else than a bar is of one colour, on the line and beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import Flags, off_colours
from renderers.reading.register import Floats
from renderers.reconstruction_anew import Anew, filled
from renderers.reconstruction_reading import Look

SMALLEST = 12
"""Pixels of a square, at the size in which pages are compared, from which on its lines are looked at."""

BESIDE = 3
"""Pixels beside a line that a bar along it may cover, too."""

FLAT = 20
"""Grey levels by which pixels of one colour, side by side, differ at most."""

CLEAR, OVER, SELDOM = 36.0, 2.0, 0.9
"""A colour is another one if it is off by so many grey levels, but always so many times what lines that nobody drew on
are off their own in lightness, but for a few of their pixels. Compression tints thin lines by 50 levels and more, but
leaves them as light as they were."""

BLURRED = 4.0
"""Grey levels of lightness by which most of the lines are off their own where they are too soft to tell anything: thin
ones, where the picture was laid askew, blurred or sharpened, by 5 to 50; through JPEG, by 1 or 2."""

LIGHTNESS = np.array([0.299, 0.587, 0.114], np.float32)
"""What of it is each channel's."""

STRETCH = 13
"""Pixels along which only a bar makes a line odd: of 960 right answers, painted and perturbed, one had 11 and none
more; half a bar is as long at least, and most are 20."""

PART = 0.6
"""The same as a share of a square's side, where that is less."""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """What is seen across the lines between n x n squares: P lines with n pieces each, L pixels long and W wide."""

    seen: Pixels  # (W, P, n, L, 3)
    line: int  # pixels, in the middle of W
    new: dict[str, Flags]  # by fill: (P, n), beside which pieces a square was given it
    colours: dict[str, list[Floats]]  # by fill, or "frame": what it may be painted with, (3,) each


def is_barred(look: Look, anew: Anew, name: str, side: int) -> bool:
    """Whether there is a bar along a line beside what changed in a silhouette, on a page of `side` pixels."""
    layout, scale = look.layout, side / look.layout.pixels
    cell, line = round(layout.cell * scale), max(1, round(layout.line * scale))
    if cell < SMALLEST:
        return False
    top, left, wide = layout.panel(name)
    more = BESIDE / scale
    box = tuple(at / layout.pixels for at in (left - more, top - more))
    far = tuple(at / layout.pixels for at in (left + wide + layout.line + more, top + wide + layout.line + more))
    size = layout.n * cell + line + 2 * BESIDE
    panel = look.drift.mend(look.registration.part((box[0], box[1], far[0], far[1]), (size, size)))
    was, now = (filled(position.view(name)) for position in (anew.before, anew.after))
    colours = {fill: [np.array(look.style.colours()[fill], np.float32)] for fill in ("frame", "blank", "filled")}
    for fill, shade in _shades(panel, was, now, cell).items():
        colours[fill].append(shade)
    return any(
        _has_bar(_across(*turned, cell, line, colours))
        for turned in ((panel, was, now), (panel.swapaxes(0, 1), was.T, now.T))
    )


def _shades(panel: Pixels, was: Flags, now: Flags, cell: int) -> dict[str, Floats]:
    """By fill, what most of the pixels in the middle of the squares have that were given it."""
    n, inside, inner = len(was), slice(BESIDE, BESIDE + len(was) * cell), slice(cell // 3, -(cell // 4))
    squares = panel[inside, inside].reshape(n, cell, n, cell, 3).swapaxes(1, 2)[:, :, inner, inner]
    new = {"blank": was & ~now, "filled": now & ~was}
    return {fill: np.median(squares[chosen], axis=(0, 1, 2)) for fill, chosen in new.items() if chosen.any()}


def _across(panel: Pixels, was: Flags, now: Flags, cell: int, line: int, colours: dict[str, list[Floats]]) -> Lines:
    """The level lines of a silhouette, but for where they cross others."""
    n, wide = len(was), line + 2 * BESIDE
    inner = panel[:, BESIDE : BESIDE + n * cell]
    strips = np.stack([inner[start : start + wide] for start in range(0, n * cell + 1, cell)])
    pieces = strips.reshape(n + 1, wide, n, cell, 3)[:, :, :, line + 1 : -1].transpose(1, 0, 2, 3, 4)
    new = {fill: _beside((was != now) & (now == (fill == "filled"))) for fill in ("blank", "filled")}
    return Lines(np.ascontiguousarray(pieces), line, new, colours)


def _beside(squares: Flags) -> Flags:
    """(n + 1, n): the pieces of level lines above or below these squares (n, n)."""
    pieces = np.zeros((len(squares) + 1, len(squares)), bool)
    pieces[1:] = squares
    pieces[:-1] |= squares
    return pieces


def _has_bar(lines: Lines) -> bool:
    """Whether there is one beside new squares; not if lines left alone, or all if none is, are too soft to tell."""
    asked = lines.new["blank"] | lines.new["filled"]
    on_lines = lines.seen[BESIDE : BESIDE + lines.line, ~asked if not asked.all() else asked]
    calm = np.abs((on_lines - lines.colours["frame"][0]) @ LIGHTNESS)
    if np.median(calm) > BLURRED:
        return False
    limit = max(CLEAR, OVER * float(np.quantile(calm, SELDOM)))
    half = (lines.line + 1) // 2
    return any(
        _are_few(_plateaus(lines, asked, size, least, limit, mixed=mixed))
        for size, least, mixed in ((half + 2, half, True), (lines.line + 2, lines.line, False))
    )


def _plateaus(lines: Lines, asked: Flags, size: int, least: int, limit: float, *, mixed: bool) -> Flags:
    """(K, L): where so many pixels across an `asked` piece of a line, the `least` of them on it, have one colour that
    is not new there, nor `mixed` of the line's and a new one."""
    seen, bars = lines.seen[:, asked], np.zeros((np.count_nonzero(asked), lines.seen.shape[3]), bool)
    for start in range(BESIDE + least - size, BESIDE + lines.line - least + 1):
        window = seen[start : start + size]  # (size, K, L, 3)
        found: Flags = (window.max(axis=0) - window.min(axis=0)).max(axis=2) < FLAT
        if not found.any():
            continue
        if mixed:
            found[found] = off_colours(_means(window, found), np.stack(lines.colours["frame"]), limit)
        for fill, new in lines.new.items():
            here = found & new[asked][:, None]
            own = np.stack([*(lines.colours["frame"] if mixed else []), *lines.colours[fill]])
            means = _means(window, here)
            found[here] = off_colours(means, own, limit) if mixed else _unlike(means, own, limit)
        bars |= found
    return bars


def _means(window: Pixels, here: Flags) -> Floats:
    """(N, 3): the mean colours of plateaus."""
    return np.asarray(window[:, here].mean(axis=0, dtype=np.float32))


def _unlike(drawn: Floats, colours: Floats, limit: float) -> Flags:
    """(N,): which pixels (N, 3) are off all of these colours (K, 3)."""
    return np.asarray(np.abs(drawn[:, None] - colours).max(axis=2).min(axis=1) > limit)


def _are_few(odd: Flags) -> bool:
    """Whether in some lines (K, L), but not in most, so many true values follow each other as only a bar leaves: where
    most are so, it is how this hand draws."""
    stretch = min(STRETCH, round(PART * odd.shape[1]))
    counts = np.cumsum(odd, axis=1)
    counts = np.concatenate([np.zeros_like(counts[:, :1]), counts], axis=1)
    long: Flags = (counts[:, stretch:] - counts[:, :-stretch] == stretch).any(axis=1)
    return bool(0 < np.count_nonzero(long) <= len(long) / 2)
