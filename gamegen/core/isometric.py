"""What can be seen of stacked cubes from a corner: exact, without pixels.

Cubes stand in columns on an n by n floor. The eye looks along (-1, 1, -1): x grows to the lower right of the picture, y
to the upper right, z upwards. So three faces of a cube can be seen: its top, its left side (towards smaller y) and its
right side (towards greater x). With u = x + y to the right and v = x - y - 2z downwards, every corner is a point of a
lattice of triangles, and each face covers exactly two of them. Strip s is what lies between u = s and u = s + 1; its
triangles are named by the v of their middle. A column of height h at x, y covers

    in strip x + y      the triangle v = x - y - 2h (half of its top), and those below it down to x - y (its left side),
    in strip x + y + 1  the same triangles (the other half of its top, and its right side);

without a cube it covers the triangle v = x - y of both strips with bare floor. So a strip shows only columns of two
diagonals, x + y = s and x + y = s - 1. `explain` uses that: it goes from strip to strip and keeps, for each way to fill
a diagonal, the best way to fill everything to the left of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import ne
from typing import NamedTuple

Heights = tuple[tuple[int, ...], ...]
"""Cubes on each place, as heights[x][y]; places count from 0."""

LIMIT = 20_000
"""Ways to fill two neighbouring diagonals that are looked at before a picture is given up as too ambiguous."""


class Strip(NamedTuple):
    """The triangles of one strip in which a top, a left side or a right side is seen: bit sets, see `bit`."""

    top: int
    left: int
    right: int


class Place(NamedTuple):
    """A place of the floor as one strip shows it: its left half (`left`) or its right half."""

    x: int
    y: int
    left: bool


def triangles(n: int) -> range:
    """The v of every triangle that a column or the floor can cover, in any strip."""
    return range(1 - 3 * n, n)


def bit(n: int, v: int) -> int:
    """The bit that stands for a triangle in its strip."""
    return 1 << (v + 3 * n - 1)


def faces(heights: Heights) -> tuple[Strip, ...]:
    """What is seen of these columns, strip by strip from the left."""
    n = len(heights)
    return tuple(_strip(n, heights, strip) for strip in range(2 * n))


def decidable(heights: Heights) -> bool:
    """Whether these columns are the only ones that look as they do."""
    return _best(faces(heights), None, len(heights)) == (heights, True)


@lru_cache(maxsize=1024)
def explain(seen: tuple[Strip, ...], given: Heights) -> Heights | None:
    """The columns that show these faces; of several, the ones that differ from `given` in the fewest places.

    None if no columns look like that, if two explanations are equally near, or if too many would have to be tried.
    """
    found, alone = _best(seen, given, len(given))
    return found if alone else None


class _Way(NamedTuple):
    """How to fill all diagonals so far: what it costs, whether it is the only one at that cost, and the diagonals."""

    cost: int
    alone: bool
    filled: tuple[tuple[int, ...], ...]


def _best(seen: tuple[Strip, ...], given: Heights | None, n: int) -> tuple[Heights | None, bool]:
    """The cheapest explanation, and whether it is the only one; each place unlike `given` costs 1."""
    ways: dict[tuple[int, ...], _Way] = {(): _Way(0, True, ())}
    tried = 0
    for strip in range(2 * n):
        reached: dict[tuple[int, ...], _Way] = {}
        kept = None if given is None else _diagonal(n, strip, given)
        for before, way in ways.items():
            for diagonal in _fill(n, strip, seen[strip], before):
                tried += 1
                if tried > LIMIT:
                    return None, False
                cost = way.cost + (0 if kept is None else sum(map(ne, diagonal, kept)))
                old = reached.get(diagonal)
                if old is None or cost < old.cost:
                    reached[diagonal] = _Way(cost, way.alone, (*way.filled, diagonal))
                elif cost == old.cost:
                    reached[diagonal] = old._replace(alone=False)
        ways = reached
    if not ways:
        return None, False
    (best,) = ways.values()  # beyond the last strip there is only the empty diagonal
    return _heights(n, best.filled), best.alone


def _fill(n: int, strip: int, seen: Strip, before: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to fill the diagonal x + y = strip, given the one before it, so that the strip shows what is seen."""
    order = _order(n, strip)
    filled = seen.top | seen.left | seen.right

    def place(index: int, hidden: int, known: tuple[int, ...], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if index == len(order):
            if not filled & ~hidden:
                yield chosen
            return
        x, y, left = order[index]
        for height in range(n + 1) if left else known[:1]:
            cap, side = _half(n, x - y, height)
            fits = not side & ~hidden & ~(seen.left if left else seen.right)
            fits = fits and not cap & ~hidden & (~seen.top if height else filled)
            if fits and left:
                yield from place(index + 1, hidden | cap | side, known, (*chosen, height))
            elif fits:
                yield from place(index + 1, hidden | cap | side, known[1:], chosen)

    return place(0, 0, before, ())


@lru_cache(maxsize=128)
def _order(n: int, strip: int) -> tuple[Place, ...]:
    """The places that a strip shows, nearest first: one can hide only those after it."""
    whole = [Place(x, strip - x, True) for x in range(n) if 0 <= strip - x < n]
    whole += [Place(x, strip - 1 - x, False) for x in range(n) if 0 <= strip - 1 - x < n]
    return tuple(sorted(whole, key=lambda place: place.y - place.x))


@lru_cache(maxsize=1024)
def _half(n: int, base: int, height: int) -> tuple[int, int]:
    """What half a column covers in its strip: the top's (or the floor's) triangle, and the side's."""
    peak = base - 2 * height
    return bit(n, peak), sum(bit(n, v) for v in range(peak + 1, base + 1))


def _strip(n: int, heights: Heights, strip: int) -> Strip:
    top = left = right = hidden = 0
    for x, y, is_left in _order(n, strip):
        height = heights[x][y]
        cap, side = _half(n, x - y, height)
        if height:
            top |= cap & ~hidden
        if is_left:
            left |= side & ~hidden
        else:
            right |= side & ~hidden
        hidden |= cap | side
    return Strip(top, left, right)


def _diagonal(n: int, strip: int, heights: Heights) -> tuple[int, ...]:
    """The columns of the diagonal x + y = strip, nearest first."""
    return tuple(heights[place.x][place.y] for place in _order(n, strip) if place.left)


def _heights(n: int, diagonals: tuple[tuple[int, ...], ...]) -> Heights:
    found = {}
    for strip, diagonal in enumerate(diagonals):
        places = [place for place in _order(n, strip) if place.left]
        found.update({(p.x, p.y): height for p, height in zip(places, diagonal, strict=True)})
    return tuple(tuple(found[x, y] for y in range(n)) for x in range(n))
