"""Tic-tac-toe in pictures: coloured blocks, or rings and crosses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamegen.core.problem import Problem
from gamegen.core.rendering import Style
from gamegen.games.tictactoe import Grid
from renderers.board import BoardRenderer
from renderers.inks import Inks, Tile, compose
from renderers.shapes import cross, ring

SYMBOLS = ".OX"
_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))


class TicTacToeRenderer(BoardRenderer[Grid]):
    name = "tictactoe"

    def size(self, position: Grid) -> tuple[int, int]:
        return 3, 3

    def symbols(self, style: Style) -> Sequence[str]:
        return SYMBOLS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        if symbol == ".":
            return np.full((n, n), inks.solid("cell"), np.uint8)
        if style.text("marks") == "block":
            return np.full((n, n), inks.solid(symbol.lower()), np.uint8)
        weight = style.number("weight") / 100
        shape = ring(n, radius=0.31, width=weight) if symbol == "O" else cross(n, radius=0.29, width=weight)
        return compose(inks, n, [(shape, symbol.lower())], "cell")

    def encode(self, position: Grid, style: Style) -> NDArray[np.intp]:
        return _NUMBER[np.frombuffer(position.places.encode(), np.uint8)].reshape(3, 3)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> Grid:
        return Grid("".join(SYMBOLS[number] for number in symbols.ravel()))


renderer = TicTacToeRenderer()
