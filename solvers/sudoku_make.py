"""Making sudoku grids of a wanted difficulty, fast enough for pure Python.

*Digging with singles*: take cells out of a full grid one by one, each only if it is a single (sudoku_logic) at that
moment. Put back in reverse order they are singles again, so the grid is solved by singles alone, and its completion
is unique, without any search. A cell that was no single once is none later, so one pass leaves nothing to take.

*Cores*: a grid in which there is no single, though its completion is unique, needs a harder technique at once. Such
grids are rare, so a bank of them (`sudoku_cores.txt`, written by `find_core` through tools/sudoku_cores.py) comes
with the package. A puzzle is a core under random symmetries, dug with singles: solving it by singles leads back to
the core, whatever was dug, so it needs exactly the core's techniques. Cores recur, in other dress and with other
cells dug; the split of train and test is by position, as everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gamegen.core.errors import Rejected
from gamegen.core.stream import Stream
from gamegen.games.sudoku import BOXES, Grid, houses_of
from solvers.sudoku_count import count, full_grid, where
from solvers.sudoku_logic import Marks

BANK = Path(__file__).with_name("sudoku_cores.txt")


def dig(grid: Grid, rng: Stream, *, blanks: int, hidden: bool = True) -> Grid:
    """Take filled cells out until `blanks` are empty or no more singles can go; only naked ones unless `hidden`."""
    size, digits, places = grid.size, list(grid.digits), where(grid.size)
    full, left = (1 << size) - 1, blanks - len(grid.empty)
    used = [0] * (3 * size)
    for (row, col, box), digit in zip(places, digits, strict=True):
        used[row] |= 1 << digit >> 1
        used[col] |= 1 << digit >> 1
        used[box] |= 1 << digit >> 1
    for number in rng.shuffled([number for number, digit in enumerate(digits) if digit]):
        if left <= 0:
            break
        bit = 1 << digits[number] - 1
        row, col, box = places[number]
        before = used[row], used[col], used[box]
        used[row] &= ~bit
        used[col] &= ~bit
        used[box] &= ~bit
        if used[row] | used[col] | used[box] | bit == full or (hidden and _is_hidden(number, bit, digits, used)):
            digits[number] = 0
            left -= 1
        else:
            used[row], used[col], used[box] = before
    return Grid(size, tuple(digits))


def _is_hidden(number: int, bit: int, digits: list[int], used: list[int]) -> bool:
    """Whether, in one of its houses, the cell is the only empty one that does not see the digit."""
    size = int(len(digits) ** 0.5)
    places = where(size)
    for house in houses_of(size)[number]:
        for other in house:
            if digits[other] or other == number:
                continue
            row, col, box = places[other]
            if not (used[row] | used[col] | used[box]) & bit:
                break
        else:
            return True
    return False


def disguise(grid: Grid, rng: Stream) -> Grid:
    """The grid under a random symmetry: rows, columns, bands, stacks, digits, and a turn where boxes are square."""
    size = grid.size
    high, wide = BOXES[size] or (size, size)
    rows, cols = _shuffled_lines(size, high, rng), _shuffled_lines(size, wide, rng)
    names = [0, *rng.shuffled(range(1, size + 1))]
    if high == wide and rng.chance(0.5):
        return Grid(size, tuple(names[grid.digits[col * size + row]] for row in rows for col in cols))
    return Grid(size, tuple(names[grid.digits[row * size + col]] for row in rows for col in cols))


def _shuffled_lines(size: int, high: int, rng: Stream) -> list[int]:
    bands = rng.shuffled(range(0, size, high))
    return [line for top in bands for line in rng.shuffled(range(top, top + high))]


def one_forced(full: Grid, rng: Stream, *, filled: int, rules: tuple[str, ...]) -> Grid:
    """Part of a full grid, at least `filled` cells, with exactly one single; or Rejected.

    Its reason (`sort_of_single`) is one of `rules`. Cells are put in, in random order, as long as none makes a single;
    the first after that which makes exactly one, of the wanted sort, ends it. As a rule such a grid has many
    completions; in a puzzle with a single one, hardly ever is only one cell forced.
    """
    order = rng.shuffled(range(len(full.digits)))
    marks = Marks(Grid(full.size, (0,) * len(full.digits)))
    inside = 0
    for number in order:
        trial = marks.copy()
        trial.place(number, full.digits[number])
        singles = trial.singles() if inside >= filled // 2 else {}
        if not singles:
            marks = trial
            inside += 1
        elif len(singles) == 1 and inside >= filled and sort_of_single(trial, *singles.popitem()) in rules:
            return Grid(full.size, tuple(trial.digits))
    raise Rejected("no single forced cell")


def sort_of_single(marks: Marks, number: int, digit: int) -> str:
    """`naked`, `hidden-box` or `hidden-line`: the easiest way to see a single."""
    bit = 1 << digit - 1
    if marks.masks[number] == bit:
        return "naked"
    box = houses_of(marks.size)[number][2:]
    alone = any(not any(marks.masks[other] & bit for other in house if other != number) for house in box)
    return "hidden-box" if alone else "hidden-line"


def find_core(rng: Stream) -> Grid | None:
    """A 9x9 grid with one completion and without a single, if digging as deep as singles go comes by one."""
    full = full_grid(9, rng)
    grid = dig(full, rng, blanks=81)
    for number in rng.shuffled([number for number, digit in enumerate(grid.digits) if digit]):
        deeper = grid.filled([(number, 0)])
        marks = Marks(deeper)
        while singles := marks.singles():
            for each, digit in singles.items():
                marks.place(each, digit)
        if 0 not in marks.digits:
            grid = deeper
            continue
        stuck = Grid(9, tuple(marks.digits))
        if count(stuck) == 1:
            return stuck
    return None


@lru_cache(maxsize=1)
def cores() -> dict[int, tuple[Grid, ...]]:
    """The bank: level -> cores."""
    bank: dict[int, list[Grid]] = {}
    for line in BANK.read_text(encoding="ascii").splitlines():
        level, text = line.split()
        bank.setdefault(int(level), []).append(Grid(9, tuple(map(int, text))))
    return {level: tuple(grids) for level, grids in bank.items()}
