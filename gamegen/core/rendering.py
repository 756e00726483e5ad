"""What a renderer is: a position becomes a picture, and a picture becomes a position again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic

import cv2
import numpy as np
import orjson
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.cell import Cell, Labels
from gamegen.core.errors import BadInput
from gamegen.core.problem import P, Problem
from gamegen.core.stream import Stream

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A palette image: the only form in which pictures travel until somebody asks for RGB."""

    pixels: Pixels  # (H, W) indices
    palette: Pixels  # (n, 3)

    def rgb(self) -> Pixels:
        """(H, W, 3)"""
        colours = np.zeros((256, 4), np.uint8)  # looked up four bytes at once: ten times as fast as numpy's take
        colours[: len(self.palette), :3] = self.palette
        found = cv2.LUT(self.pixels, colours.view(np.int32).reshape(256))
        return np.asarray(cv2.cvtColor(found.view(np.uint8).reshape(*self.pixels.shape, 4), cv2.COLOR_RGBA2RGB))

    def grey(self) -> Pixels:
        """(H, W): the mean of the three colours, rounded as that of a picture from outside is."""
        levels = (self.palette.astype(np.uint16).sum(axis=1) + 1) // 3
        return np.take(levels.astype(np.uint8), self.pixels)

    def image(self) -> Image.Image:
        image = Image.fromarray(self.pixels, "P")
        image.putpalette(self.palette.tobytes())
        return image.convert("RGB")


@dataclass(frozen=True, slots=True)
class Style:
    """One sampled look: a skin, a picture size, and what was picked where the skin leaves a choice.

    Both pictures of a pair share it, and the row stores it, so a reader knows every colour and width.
    """

    skin: str
    pixels: int
    picks: tuple[tuple[str, str | int], ...]  # sorted by name

    def __getitem__(self, name: str) -> str | int:
        for key, value in self.picks:
            if key == name:
                return value
        raise KeyError(f"skin {self.skin!r} picks no {name!r}")

    def number(self, name: str) -> int:
        return int(self[name])

    def text(self, name: str) -> str:
        return str(self[name])

    def colours(self) -> dict[str, Colour]:
        """Every picked value that is a colour (`#rrggbb`), by name."""
        return {k: parse_colour(v) for k, v in self.picks if isinstance(v, str) and v.startswith("#")}

    @property
    def page(self) -> Colour:
        """The colour of the empty page, on which a picture's transparent parts are laid; white if the skin has none."""
        return next((parse_colour(value) for name, value in self.picks if name == "page"), WHITE)

    @property
    def labels(self) -> Labels:
        return Labels.parse(self.text("labels"))

    def told(self, text: str) -> str:
        """A sentence about cells by the labels of this look, if it has any."""
        return self.labels.told(text) if any(name == "labels" for name, _ in self.picks) else text

    def to_json(self) -> str:
        return orjson.dumps({"skin": self.skin, "pixels": self.pixels, "picks": dict(self.picks)}).decode()

    @classmethod
    def from_json(cls, text: str) -> Style:
        try:
            data = orjson.loads(text)
            return cls(str(data["skin"]), int(data["pixels"]), tuple(sorted(data["picks"].items())))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not a style: {text[:80]!r} ({error})") from error


@dataclass(frozen=True, slots=True)
class Reading(Generic[P]):
    """What a reader saw."""

    position: P
    confidence: float  # of the least certain cell, 0 to 1
    quality: float  # likeness to the clean rendering of this position, 0 to 1
    find_stain: Callable[[], str] = str  # see `stain`; looked for only when asked, since a wrong answer needs no more
    is_still: bool = False  # whether the page lies just where it lay
    matrix: NDArray[np.floating[Any]] | None = field(default=None, compare=False)  # (3, 3): where it lies, if known

    @property
    def stain(self) -> str:
        """Where something was drawn that belongs to no position ("cell (0, 2)", "the margin"); empty if nowhere.

        Raises UnreadableImage if the picture turns out to be another one altogether.
        """
        return self.find_stain()


class Renderer(ABC, Generic[P]):
    @property
    @abstractmethod
    def skins(self) -> Sequence[str]:
        """Names of the skins, the original's look first."""

    @abstractmethod
    def style(self, problem: Problem[P], *, skin: str, pixels: int, rng: Stream) -> Style:
        """Pick what the skin leaves open, from the sample's own stream."""

    @abstractmethod
    def terms(self, style: Style, language: str) -> Mapping[str, str]:
        """What things are called in this skin (`o` is "red block" here, "O" there), for the sentences."""

    @abstractmethod
    def render(self, position: P, style: Style) -> Picture:
        """A pure function of its arguments."""

    @abstractmethod
    def mask(self, cells: frozenset[Cell], position: P, style: Style) -> NDArray[np.bool_]:
        """(H, W): true on the pixels of these cells."""

    def shaky(self, problem: Problem[P], style: Style) -> NDArray[np.bool_] | None:
        """(H, W): where answers change so much that nothing there tells how a picture lies; None if nowhere."""
        return None

    def glance(self, image: Pixels, problem: Problem[P], style: Style) -> P | None:
        """The position that an edited picture (H, W, 3) may show, if that can be guessed quickly; None if not.

        Only if the picture is our own drawing of it, pixel by pixel, does it show that position and no other.
        """
        return None

    @abstractmethod
    def read(self, image: Pixels, problem: Problem[P], style: Style) -> Reading[P]:
        """The position shown in an edited picture (H, W, 3) of any size; raises UnreadableImage.

        It may use what the editor was given (the problem's position and style). It never sees the answer.
        """


@lru_cache(maxsize=1024)
def parse_colour(value: str | int) -> Colour:
    text = str(value)
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
