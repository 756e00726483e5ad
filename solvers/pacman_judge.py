"""Pac-Man, judged: what the rules say of any drawn result."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from gamegen.core.cell import OPPOSITE, Cell
from gamegen.core.problem import Check
from gamegen.games.pacman import BLOCKED, FACING, FOOD, NAMES, NOTHING, WALL, Position, Walk, game, reachable
from solvers.pacman_route import Errand


def check_sweep(before: Position, walk: Walk, shown: Position) -> Check:
    if _other_size(before, shown):
        return _wrong_size(before)
    after = game.apply(before, walk)
    eaten = [cell for cell in before.find(FOOD) if after[cell] not in FOOD]
    reason = _broken(before, shown) or _misplaced(shown, after) or _uneaten(before, shown, after)
    return Check(
        correct=shown == after,
        legal=shown in (before, after) or any(shown == game.apply(before, run) for run in game.actions(before)),
        preserved=_kept(before, shown, _differing(before, after)),
        reason=reason or "Pac-Man made the run that collects most beans.",
        parts={
            "pacman": float(_stands(shown, after.pacman())),
            "facing": float(shown[after.pacman()] == after[after.pacman()]),
            "eaten": _share(shown[cell] not in FOOD for cell in eaten),
        },
    )


def check_route(errand: Errand, shown: Position) -> Check:
    before, goals = errand.position, errand.targets
    if _other_size(before, shown):
        return _wrong_size(before)
    reason = _broken(before, shown)
    legal = not reason and (shown == before or _walkable(before, shown))
    correct = legal and errand.explains(_emptied(before, shown), shown.pacman(), FACING[shown[shown.pacman()]])
    if not reason and not correct:
        reason = _unfinished(errand, shown) or (
            f"The emptied cells and Pac-Man's place are not those of a route of {errand.length} steps, "
            "which is the shortest."
        )
    return Check(
        correct=correct,
        legal=legal,
        preserved=_kept(before, shown, _touched(before, goals)),
        reason=reason or f"Pac-Man took a shortest route of {errand.length} steps.",
        parts={
            "goals": _share(shown[goal] not in FOOD for goal in goals),
            "pacman": float(any(_stands(shown, goal) for goal in goals)),
        },
    )


def _broken(before: Position, shown: Position) -> str:
    """What no walk could do, in one sentence; empty if there is nothing."""
    count = len(shown.find("".join(FACING)))
    if count != 1:
        return "Pac-Man is missing." if count == 0 else f"There are {count} Pac-Men instead of one."
    for cell in _differing(before, shown):
        had, has = before[cell], shown[cell]
        if had in BLOCKED or has in BLOCKED or has in FOOD:
            return f"Cell {_at(cell)} held {NAMES[had]} and now shows {NAMES[has]}."
    return ""


def _misplaced(shown: Position, after: Position) -> str:
    place, want = shown.pacman(), after.pacman()
    if place != want:
        return f"Pac-Man stands on cell {_at(place)}, but the best run ends on cell {_at(want)}."
    if shown[place] != after[want]:
        return f"Pac-Man faces {FACING[shown[place]]} instead of {FACING[after[want]]}, the way he moved."
    return ""


def _uneaten(before: Position, shown: Position, after: Position) -> str:
    for cell in _differing(shown, after):
        state = "is still there" if after[cell] == NOTHING else "is gone, though Pac-Man never passed it"
        return f"The {_noun(before[cell])} on cell {_at(cell)} {state}."
    return ""


def _unfinished(errand: Errand, shown: Position) -> str:
    left = [goal for goal in errand.targets if shown[goal] in FOOD]
    if shown == errand.position:
        return "Pac-Man has not moved."
    if left:
        return f"The {_noun(shown[left[0]])} on cell {_at(left[0])} is still there."
    place = shown.pacman()
    if place not in errand.targets:
        return f"Pac-Man stands on cell {_at(place)}, where no shortest route ends."
    return ""


def _walkable(before: Position, shown: Position) -> bool:
    """Whether some walk, however long, leaves the board so: the emptied cells hang together, up to the last step."""
    place = shown.pacman()
    behind = place.moved(OPPOSITE[FACING[shown[place]]])
    emptied = _emptied(before, shown)
    kept = {cell: WALL for cell in before.find(FOOD) if cell not in emptied}
    walked = reachable(before.with_things(kept), before.pacman())
    return behind in walked and place in walked and walked >= emptied


def _emptied(before: Position, shown: Position) -> set[Cell]:
    return {cell for cell in _differing(before, shown) if before[cell] in FOOD and shown[cell] not in FOOD}


def _differing(one: Position, other: Position) -> list[Cell]:
    """The cells that hold different things, row by row."""
    width = len(one.rows[0])
    pairs = zip("".join(one.rows), "".join(other.rows), strict=True)
    return [Cell(*divmod(place, width)) for place, (thing, instead) in enumerate(pairs) if thing != instead]


@lru_cache(maxsize=64)
def _touched(before: Position, goals: tuple[Cell, ...]) -> frozenset[Cell]:
    """What shortest routes may change; kept for the next picture of a group."""
    return frozenset(Errand(before, goals).touched())


def _kept(before: Position, shown: Position, free: Collection[Cell]) -> float:
    """The share of cells, but for the free ones, that are as they were."""
    count = len(before.rows) * len(before.rows[0]) - len(free)
    lost = sum(cell not in free for cell in _differing(before, shown))
    return (count - lost) / count if count else 1.0


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else 1.0


def _stands(shown: Position, cell: Cell) -> bool:
    return shown[cell] in FACING


def _other_size(before: Position, shown: Position) -> bool:
    return (len(before.rows), len(before.rows[0])) != (len(shown.rows), len(shown.rows[0]))


def _wrong_size(before: Position) -> Check:
    return Check(False, False, 0.0, f"The board must have {len(before.rows)} rows and {len(before.rows[0])} columns.")


def _at(cell: Cell) -> str:
    return f"({cell.row}, {cell.col})"


def _noun(thing: str) -> str:
    return NAMES[thing].removeprefix("a ")
