"""Datasets: lazy, indexable, sliceable, picklable; sample i is worked out when it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, overload

from gamegen.core.errors import BadInput, unknown
from gamegen.core.key import DEFAULT_PIXELS, LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.registry import plugin_of, select
from gamegen.sample import Sample, make_sample


class Dataset(Sequence[Sample]):
    """Samples that take turns through `cells`, the (task, level) pairs; a pair listed twice comes twice."""

    def __init__(
        self,
        cells: Sequence[tuple[str, int]],
        *,
        seed: int,
        size: int,
        skins: Mapping[str, tuple[str, ...]],
        split: str,
        language: str,
        pixels: int,
        skins_in_turn: bool = False,
        window: range | None = None,
    ) -> None:
        """With `skins_in_turn`, the samples of a pair take the skins one after the other; else each draws its own."""
        if size < 0:
            raise BadInput(f"size must not be negative, not {size!r}")
        self.cells = tuple(cells)
        self.seed = seed
        self.skins = dict(skins)
        self.split = split
        self.language = language
        self.pixels = pixels
        self.skins_in_turn = skins_in_turn
        self.window = range(size) if window is None else window
        counts: dict[tuple[str, int], int] = {}
        self._turns = []  # how often the same pair came before, in one round
        for cell in self.cells:
            self._turns.append(counts.get(cell, 0))
            counts[cell] = counts.get(cell, 0) + 1
        self._counts = counts
        self._ranks: dict[tuple[str, int], int] = {}  # the place of a pair among those of its game
        games: Counter[str] = Counter()
        for task, level in counts:
            game = task.partition("/")[0]
            self._ranks[task, level] = games[game]
            games[game] += 1

    def key(self, index: int) -> Key:
        """The key of sample `index`: which sample it is, without making it."""
        number = self.window[index]
        lap, place = divmod(number, len(self.cells))
        task, level = cell = self.cells[place]
        key = Key(
            task=task,
            split=self.split,
            level=level,
            seed=self.seed,
            index=lap * self._counts[cell] + self._turns[place],
            language=self.language,
            pixels=self.pixels,
        )
        allowed = self.skins.get(task.partition("/")[0])
        if not allowed:
            return key
        if self.skins_in_turn:  # each pair begins with another skin, so that they come out even over the game, too
            skin = allowed[(key.index + self._ranks[cell]) % len(allowed)]
        else:
            skin = Stream(key.base, "allowed skin").choice(allowed)
        return Key(**{name: getattr(key, name) for name in Key.__slots__} | {"skin": skin})

    def task(self, index: int) -> str:
        """The task of sample `index`."""
        return self.cells[self.window[index] % len(self.cells)][0]

    def __len__(self) -> int:
        return len(self.window)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    def __getitem__(self, index: int | slice) -> Sample | Dataset:
        if isinstance(index, slice):
            return self._view(self.window[index])
        return make_sample(self.key(index))

    def _view(self, window: range) -> Dataset:
        return Dataset(
            self.cells,
            seed=self.seed,
            size=0,
            skins=self.skins,
            split=self.split,
            language=self.language,
            pixels=self.pixels,
            skins_in_turn=self.skins_in_turn,
            window=window,
        )

    def __repr__(self) -> str:
        tasks = ", ".join(dict.fromkeys(task for task, _ in self.cells))
        return f"<gamegen dataset of {len(self)}: {tasks}; seed {self.seed}, {self.split}>"


def create_dataset(
    task: str | Sequence[str] = "all",
    *,
    seed: int = 0,
    size: int = 100,
    level: int | Sequence[int] | None = None,
    skin: str | Sequence[str] | None = None,
    split: str = "train",
    language: str = "en",
    pixels: int = DEFAULT_PIXELS,
) -> Dataset:
    """`size` samples of one task (`maze/path`), one game (`maze`), several of them, or `all`.

    Levels (default 1 to 5) and tasks take turns, so any prefix is balanced. A skin that a game does not have is
    left out for that game; if no game has it, that is an error.
    """
    tasks = select(task if isinstance(task, str) else list(task))
    levels = LEVELS if level is None else (level,) if isinstance(level, int) else tuple(level)
    cells = [(name, each) for each in levels for name in tasks]
    wanted = () if skin is None else (skin,) if isinstance(skin, str) else tuple(skin)
    dataset = Dataset(
        cells,
        seed=seed,
        size=size,
        skins=skins_for(tasks, wanted),
        split=split,
        language=language,
        pixels=pixels,
    )
    for each in levels:  # a bad option is an error now, not at the first sample
        Key(tasks[0], split=split, level=each, seed=seed, language=language, pixels=pixels)
    return dataset


def skins_for(tasks: Sequence[str], wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of the wanted skins, those that each game has."""
    if not wanted:
        return {}
    has: dict[str, Any] = {}
    for task in tasks:
        found, _ = plugin_of(task)
        has[found.game.name] = found.renderer.skins
    everything = sorted({skin for skins in has.values() for skin in skins})
    for skin in wanted:
        if skin not in everything:
            raise unknown("skin", skin, everything)
    return {game: tuple(s for s in skins if s in wanted) for game, skins in has.items()}
