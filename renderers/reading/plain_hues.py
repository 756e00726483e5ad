"""Plain hues: whether the colour of each border is one of those that may be asked for, and the only one there."""

from __future__ import annotations

import numpy as np

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from renderers.reading.fit import medians
from renderers.reading.hues import Hues, Layer, Numbers, from_grey
from renderers.reading.redrawn import Again, confirmed

RIVAL, STRONG = 0.25, 0.6
"""A border is of two colours if so many of its pixels, to one of its own, have the hue that is next to its own; and so
many of those, too, that have this share of its usual strength: the rim of a line has the tint of its ground."""

OFF_HUE, ONE_HUE = 0.91, 0.968
"""How near (cosine) a border's hue must be to its colour, and to the hue of the purest border of that colour: drift,
sharpening and another hand turn hues by up to 23 degrees, but all of one colour alike, within 12; half of another
colour turns one of them by 16 and more."""

STRAY, SPREAD = 0.012, 8.0
"""Where borders of a colour are closer to one another, none may be off by more than this and so many times what half of
them are: a third of another colour turns one by 12 degrees, of which the cosine is 0.022 off."""

INNER, CROSSED = 0.25, 0.3
"""Share of a cell, at its border, where borders may be, its own and those that lean over from next door; and how much
of another colour may be inside of that, as a share of the cell's side: compression takes 0.18 in, and a thin cross has
0.45 even then."""


def crossed_cell(plain: Hues, colours: Numbers) -> Cell | None:
    """A cell with a border, of the colours (R, R), inside of which something was drawn in another one."""
    n, own = plain.grid.n, colours.take(plain.cells)
    row, col = np.divmod(plain.grid.within.take(plain.places), n)
    rim = round(INNER * n)
    inside = (np.minimum(row, col) >= rim) & (np.maximum(row, col) < n - rim)
    odd = plain.some(inside & (own >= 0) & (plain.names != own))
    if not len(odd.places):
        return None
    amount = np.bincount(odd.cells, odd.share)
    where = int(amount.argmax())
    return Cell(*divmod(where, len(colours))) if amount[where] > CROSSED * n else None


def demand_plain_hues(plain: Hues, own: Hues, colours: Numbers, lead: float, again: Again | None) -> None:
    """Raise UnreadableImage if the hue of a border lies between two colours that may be asked for, and a look at the
    whole cell does not tell.

    Of the `plain` pixels, those in their cell's own colour are `own`.
    """
    framed = np.flatnonzero(np.bincount(own.cells))
    if not len(framed):
        return
    number = colours.take(framed)
    ways = from_grey(np.stack([np.bincount(own.cells, channel).take(framed) for channel in own.pixels.T], axis=1))
    near = ways @ from_grey(plain.marks).T  # (cells, marks)
    second, first = np.argsort(near, axis=1)[:, -2:].T
    each = np.arange(len(framed))
    between = near[each, first] - near[each, second] < lead
    nearest = near[each, number]
    purest = np.zeros(len(plain.marks), np.intp)
    purest[number[nearest.argsort()]] = nearest.argsort()  # of each colour the border that is nearest to it
    apart = 1 - np.einsum("ij,ij->i", ways, ways[purest[number]])
    between |= (nearest < OFF_HUE) | (apart > min(1 - ONE_HUE, STRAY + SPREAD * float(medians(apart))))
    rival = _has_rival(plain, framed, number, second)
    if rival.any():
        between |= rival & _has_rival(_strongest(plain, framed, number), framed, number, second)
    if between.any():
        doubtful = np.zeros(colours.shape, bool)
        doubtful.reshape(-1)[framed[between]] = True
        between &= ~confirmed(colours, doubtful, again).take(framed)
    if between.any():
        row, col = divmod(int(framed[between.argmax()]), len(colours))
        raise UnreadableImage(f"the border of cell ({row}, {col}) may be of one colour or of another")


def _has_rival(hues: Hues, framed: Numbers, number: Numbers, second: Numbers) -> Layer:
    """(F,): which of the framed cells, each of the colour of a number, have too much of a second one, too."""
    of_hue = hues.counts.reshape(len(hues.marks), -1)
    rival: Layer = of_hue[second, framed] > RIVAL * of_hue[number, framed]
    return rival


def _strongest(plain: Hues, framed: Numbers, number: Numbers) -> Hues:
    """What is about as strong as a framed cell's colour usually is in it: no rim of a line, and nothing on the grid's
    lines, whose tint shows through."""
    counts, sums = (each.reshape(len(plain.marks), -1) for each in (plain.counts, plain.amounts))
    usual = np.zeros(counts.shape[1])
    usual[framed] = sums[number, framed] / counts[number, framed]
    n = plain.grid.n
    row, col = np.divmod(plain.grid.within.take(plain.places), n)
    within = (np.minimum(row, col) > 0) & (np.maximum(row, col) < n - 1)
    return plain.some(within & (plain.share >= STRONG * usual.take(plain.cells)))
