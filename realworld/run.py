"""A run folder: the files that the stages leave in it, and what they hold, as our own types.

Every stage keeps a journal (gamegen.journal): a first line with its plan, which says how the stage works, and a line
for each finished piece. A piece is named by an id; `material-modification-12-3` is the third triple of the twelfth
request for its category, and `material-modification-12-3-1` the first pair of pictures made for it.

A result that has `failure` gives the reason why there is none; the next run tries that piece again. A result that has
`drop` gives the reason why the piece goes no further.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gamegen.core.errors import BadInput
from gamegen.journal import read_journal
from gamegen.writing.folder import write_json

VERSION = 1
TOP = 5
"""The best score of a filter's question, and what `keep` asks for unless it is told otherwise."""

STAGES = {
    "triples": "triples.jsonl",
    "dedup": "unique.jsonl",
    "pairs": "pairs.jsonl",
    "reason": "reasoning.jsonl",
    "filter": "scores.jsonl",
}
"""The automatic stages, in order, and their journals."""


@dataclass(frozen=True, slots=True)
class Triple:
    id: str
    category: str
    description: str  # of the original picture
    instruction: str  # names the cause
    effect: str  # names the consequence


@dataclass(frozen=True, slots=True)
class Pair:
    id: str
    triple: Triple
    original: Path
    edited: Path


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that passed every filter: what people inspect, and what is exported."""

    id: str
    category: str
    description: str
    instruction: str
    effect: str
    reasoning: str
    scores: Mapping[str, int]
    original: Path
    edited: Path


class Run:
    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = settings

    @classmethod
    def open(cls, folder: Path | str) -> Run:
        path = Path(folder) / "run.json"
        try:
            about = json.loads(path.read_bytes())
            version, settings = about["version"], dict(about["settings"])
        except FileNotFoundError:
            raise BadInput(f"{folder} is no run folder: it has no run.json; `gamegen real triples` makes one") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path} is damaged: {error!r}") from error
        if version != VERSION:
            raise BadInput(f"{path} is of version {version!r}; this program reads version {VERSION}")
        return cls(Path(folder), settings)

    @classmethod
    def create(cls, folder: Path | str, **settings: Any) -> Run:
        """Begin a run folder, or open the one that is there; settings that are given replace those in it."""
        folder = Path(folder)
        run = cls(folder, {})
        if (folder / "run.json").exists():
            run = cls.open(folder)
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(f"{folder} exists and is no run folder; choose another")
        run.settings = {**run.settings, **settings}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "run.json", {"version": VERSION, "settings": run.settings})
        except OSError as error:
            raise BadInput(f"cannot write {folder}: {error}") from error
        return run

    @property
    def decisions(self) -> Path:
        """What people decided."""
        return self.folder / "review.sqlite"

    @property
    def keep(self) -> int:
        """The least score that a pair must have in every filter."""
        return int(self.settings.get("keep", TOP))

    def journal(self, stage: str) -> Path:
        return self.folder / STAGES[stage]

    def results(self, stage: str) -> dict[str, dict[str, Any]]:
        """What a stage has come to so far, by piece; empty if it has not begun."""
        path = self.journal(stage)
        return read_journal(path)[1] if path.exists() else {}

    def plan(self, stage: str) -> dict[str, Any]:
        """How a stage worked; empty if it has not begun."""
        path = self.journal(stage)
        return read_journal(path)[0] if path.exists() else {}

    def triples(self) -> Iterator[Triple]:
        """Everything the language model wrote that could be read, in order."""
        for result in self.results("triples").values():
            for triple in result.get("triples", ()):
                yield Triple(**triple)

    def unique(self) -> Iterator[Triple]:
        for name, result in self.results("dedup").items():
            if "drop" not in result:
                yield Triple(name, **result)

    def pairs(self) -> Iterator[Pair]:
        triples = {triple.id: triple for triple in self.unique()}
        for name, result in self.results("pairs").items():
            if "failure" not in result and result["triple"] in triples:
                folder = self.folder / "images" / result["triple"]
                yield Pair(name, triples[result["triple"]], folder / "original.png", folder / result["edited"])

    def candidates(self) -> Iterator[Candidate]:
        """Pairs with at least `keep` in every filter; of several for one triple, the first."""
        reasoning, scores = self.results("reason"), self.results("filter")
        taken: set[str] = set()
        for pair in self.pairs():
            found = scores.get(pair.id, {}).get("scores")
            if not found or min(found.values()) < self.keep or pair.triple.id in taken:
                continue
            taken.add(pair.triple.id)
            triple = pair.triple
            yield Candidate(
                id=pair.id,
                category=triple.category,
                description=triple.description,
                instruction=triple.instruction,
                effect=triple.effect,
                reasoning=reasoning[pair.id]["text"],
                scores=found,
                original=pair.original,
                edited=pair.edited,
            )
