"""The key of a sample: what decides it, and its text form.

`sokoban/push@1:train:3:42:17` is sample 17 of seed 42, level 3, training split, generator version 1. How it is shown
(skin, language, picture size) may be chosen from outside; such a choice is part of the id:
`sokoban/push@1:train:3:42:17?skin=dark&language=zh&pixels=256`. Either form rebuilds the sample anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gamegen.core.errors import BadInput, unknown
from gamegen.core.stream import Stream

VERSION = 1
"""The generator's version: raised when any existing sample's bytes change, with a line in CHANGELOG.md."""

SPLITS = ("train", "test")
LEVELS = (1, 2, 3, 4, 5)
LANGUAGES = ("en", "zh")
SMALLEST, DEFAULT_PIXELS, LARGEST = 256, 512, 1024

_ID = re.compile(
    r"(?P<task>[a-z0-9_]+/[a-z0-9-]+)@(?P<version>\d+):(?P<split>[a-z]+):(?P<level>\d+):(?P<seed>-?\d+):(?P<index>\d+)"
    r"(?:\?(?P<options>.*))?"
)


@dataclass(frozen=True, slots=True)
class Key:
    task: str
    split: str = "train"
    level: int = 1
    seed: int = 0
    index: int = 0
    version: int = VERSION
    skin: str | None = None  # None: the sample's own stream picks one
    language: str = "en"
    pixels: int = DEFAULT_PIXELS

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise unknown("split", self.split, SPLITS)
        if self.level not in LEVELS:
            raise BadInput(f"level must be one of 1 to 5, not {self.level!r}")
        if self.index < 0:
            raise BadInput(f"index must not be negative, not {self.index!r}")
        if self.version != VERSION:
            raise BadInput(f"this is generator version {VERSION}; it cannot rebuild version {self.version}")
        if self.language not in LANGUAGES:
            raise unknown("language", self.language, LANGUAGES)
        if not SMALLEST <= self.pixels <= LARGEST:
            raise BadInput(f"pixels must be {SMALLEST} to {LARGEST}, not {self.pixels!r}")

    @property
    def base(self) -> str:
        """The part that decides position, problem and look."""
        return f"{self.task}@{self.version}:{self.split}:{self.level}:{self.seed}:{self.index}"

    @property
    def id(self) -> str:
        shown = []
        if self.skin is not None:
            shown.append(f"skin={self.skin}")
        if self.language != "en":
            shown.append(f"language={self.language}")
        if self.pixels != DEFAULT_PIXELS:
            shown.append(f"pixels={self.pixels}")
        return self.base + ("?" + "&".join(shown) if shown else "")

    def stream(self, purpose: str, attempt: int = 0) -> Stream:
        """Draws for one purpose, independent of every other purpose, sample and seed."""
        return Stream(self.base, purpose, attempt)

    @classmethod
    def parse(cls, text: str) -> Key:
        match = _ID.fullmatch(text.strip())
        if match is None:
            raise BadInput(f"not a sample id: {text!r}; one looks like 'maze/path@{VERSION}:train:3:42:17'")
        options: dict[str, str] = {}
        for part in filter(None, (match["options"] or "").split("&")):
            name, _, value = part.partition("=")
            if name not in ("skin", "language", "pixels"):
                raise unknown("option in the sample id", name, ("skin", "language", "pixels"))
            options[name] = value
        pixels = options.get("pixels", str(DEFAULT_PIXELS))
        if not pixels.isdecimal():
            raise BadInput(f"pixels in the sample id must be a number, not {pixels!r}")
        return cls(
            task=match["task"],
            split=match["split"],
            level=int(match["level"]),
            seed=int(match["seed"]),
            index=int(match["index"]),
            version=int(match["version"]),
            skin=options.get("skin"),
            language=options.get("language", "en"),
            pixels=int(pixels),
        )
