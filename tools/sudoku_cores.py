"""Write solvers/sudoku_cores.txt, the bank of sudoku cores: `python tools/sudoku_cores.py 500`."""

from __future__ import annotations

import sys

from gamegen.core.stream import Stream
from gamegen.games.sudoku import Grid, game
from solvers.sudoku_logic import TECHNIQUES
from solvers.sudoku_make import BANK, find_core
from solvers.sudoku_reasons import Trace

MOST_CUTS = {4: 4, 5: 3}
"""level -> cuts a core may need; more make a long story."""

MOST_BLANKS = 36
"""A core needs enough filled cells for digging to make many puzzles of it."""


def level_of(core: Grid) -> int:
    """4 if locked candidates and pairs suffice, 5 if it takes triples, X-wings or trials, 0 if it is no use."""
    cuts = [rule for rule in Trace(core).tell().weights if rule not in ("naked", "hidden")]
    easy = TECHNIQUES[: TECHNIQUES.index("naked-triple")]
    level = 4 if all(rule in easy for rule in cuts) else 5
    return level if "search" not in cuts and len(cuts) <= MOST_CUTS[level] else 0


def main(wanted: int) -> None:
    bank: dict[int, dict[str, Grid]] = {4: {}, 5: {}}
    attempt = 0
    while any(len(cores) < wanted for cores in bank.values()):
        core = find_core(Stream("sudoku core", attempt))
        attempt += 1
        level = level_of(core) if core and len(core.empty) <= MOST_BLANKS else 0
        if core and level and len(bank[level]) < wanted:
            bank[level].setdefault(game.canonical(core), core)
    lines = [f"{level} {''.join(map(str, core.digits))}\n" for level, cores in bank.items() for core in cores.values()]
    BANK.write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main(int(sys.argv[1]))
