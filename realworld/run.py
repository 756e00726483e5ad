"""A run folder: the files that the stages leave in it, and what they hold, as our own types.

Every stage keeps a journal (gamegen.journal): a first line with its plan, which says how the stage works, and a line
for each finished piece. A piece is named by an id; `material-modification-12-3` is the third triple of the twelfth
request for its category, and `material-modification-12-3-1` the first pair of pictures made for it.

A result that has `failure` gives the reason why there is none; the next run tries that piece again. A result that has
`drop` gives the reason why the piece goes no further. `of` is the fingerprint of what a result was made from: a result
of something that has changed since does not count, and is made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from gamegen.core.categories import CATEGORIES
from gamegen.core.errors import BadInput
from gamegen.journal import read_journal
from gamegen.stored import inside
from gamegen.writing.folder import write_json
from scoring.parse import HIGHEST

VERSION = 1
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
    key: str  # the fingerprint of its texts and pictures
    reasoning: str = ""


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
    key: str  # the fingerprint of its texts and pictures


class Run:
    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = settings
        self._known: dict[str, tuple[Any, dict[str, Any], dict[str, dict[str, Any]]]] = {}  # journals, by stage

    @classmethod
    def open(cls, folder: Path | str) -> Run:
        path = Path(folder) / "run.json"
        try:
            about = json.loads(path.read_bytes())
            version, settings = about["version"], dict(about["settings"])
        except (FileNotFoundError, NotADirectoryError):
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
        run.set(**settings)
        return run

    def set(self, **settings: Any) -> None:
        self.settings = {**self.settings, **settings}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / "run.json", {"version": VERSION, "settings": self.settings})
        except OSError as error:
            raise BadInput(f"cannot write {self.folder}: {error}") from error

    @property
    def decisions(self) -> Path:
        """What people decided."""
        return self.folder / "review.sqlite"

    @property
    def replies(self) -> Path:
        """What models said, by what they were asked."""
        return self.folder / "replies.sqlite"

    @property
    def keep(self) -> int:
        """The least score that a pair must have in every filter."""
        return int(self.settings.get("keep", HIGHEST))

    def journal(self, stage: str) -> Path:
        return self.folder / STAGES[stage]

    def results(self, stage: str) -> dict[str, dict[str, Any]]:
        """What a stage has come to so far, by piece; empty if it has not begun."""
        return self._read(stage)[1]

    def plan(self, stage: str) -> dict[str, Any]:
        """How a stage worked; empty if it has not begun."""
        return self._read(stage)[0]

    def triples(self) -> Iterator[Triple]:
        """Everything the language model wrote that could be read, in order."""
        for name, result in self.results("triples").items():
            for number, item in enumerate(result.get("triples", ()), 1):
                if "drop" not in item:
                    yield self._triple("triples", f"{name}-{number}", item)

    def unique(self) -> Iterator[Triple]:
        for name, result in self.results("dedup").items():
            if "drop" not in result:
                yield self._triple("dedup", name, result)

    def pairs(self) -> Iterator[Pair]:
        results = self.results("pairs")
        triples = {triple.id: triple for triple in self.unique()}
        for name, result in results.items():
            triple = triples.get(str(result.get("triple")))
            if triple is None or "picture" not in result:
                continue
            original = str(results.get(triple.id, {}).get("picture"))
            if result.get("of") == fingerprint(original, wish(triple)):
                if not isinstance(result.get("number"), int):
                    raise self._damaged("pairs", name, "it has no number")
                folder = self.images(triple)
                key = fingerprint(original, str(result["picture"]), triple.description, wish(triple))
                yield Pair(name, triple, folder / "original.png", folder / f"edited-{result['number']}.png", key)

    def images(self, triple: Triple) -> Path:
        """Where a triple's pictures lie."""
        return inside(self.folder, f"images/{triple.id}")

    def reasoned(self) -> Iterator[Pair]:
        """Pairs with their reasoning."""
        results = self.results("reason")
        for pair in self.pairs():
            result = results.get(pair.id, {})
            if "text" in result and result.get("of") == pair.key:
                text = str(result["text"])
                yield replace(pair, reasoning=text, key=fingerprint(pair.key, text))

    def judged(self) -> Iterator[tuple[Pair, dict[str, int]]]:
        """Pairs that have their scores."""
        results = self.results("filter")
        for pair in self.reasoned():
            result = results.get(pair.id, {})
            if "scores" in result and result.get("of") == pair.key:
                scores = result["scores"]
                if not isinstance(scores, dict) or not all(isinstance(score, int) for score in scores.values()):
                    raise self._damaged("filter", pair.id, f"scores are {scores!r:.40}")
                yield pair, scores

    def candidates(self) -> Iterator[Candidate]:
        """Pairs with at least `keep` in every filter; of several for one triple, the first."""
        taken: set[str] = set()
        for pair, scores in self.judged():
            triple = pair.triple
            if min(scores.values()) < self.keep or triple.id in taken:
                continue
            taken.add(triple.id)
            yield Candidate(
                id=pair.id,
                category=triple.category,
                description=triple.description,
                instruction=triple.instruction,
                effect=triple.effect,
                reasoning=pair.reasoning,
                scores=scores,
                original=pair.original,
                edited=pair.edited,
                key=pair.key,
            )

    def _read(self, stage: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """A journal, read again only if it has changed."""
        path = self.journal(stage)
        if not path.exists():
            return {}, {}
        there = path.stat()
        mark = (there.st_ino, there.st_mtime_ns, there.st_size)
        if stage not in self._known or self._known[stage][0] != mark:
            plan, results = read_journal(path)
            for name, result in results.items():
                if not isinstance(result, dict):
                    raise self._damaged(stage, name, f"{result!r:.40} is no object")
            self._known[stage] = (mark, plan, results)
        return self._known[stage][1:]

    def _triple(self, stage: str, name: str, item: Mapping[str, str]) -> Triple:
        try:
            triple = Triple(name, **item)
        except TypeError as error:
            raise self._damaged(stage, name, str(error)) from error
        if triple.category not in CATEGORIES:
            raise self._damaged(stage, name, f"unknown category {triple.category!r}")
        return triple

    def _damaged(self, stage: str, name: str, why: str) -> BadInput:
        return BadInput(f"{self.journal(stage)}: the line of {name} is damaged: {why}; remove it and it is made again")


def wish(triple: Triple) -> str:
    """What the editor is told: the effect helps it, and is no part of the dataset's instruction."""
    return f"{triple.instruction}\n{triple.effect}"


def fingerprint(*parts: str | bytes) -> str:
    """Parts carry their length, so none runs into the next."""
    digest = blake2b(digest_size=12)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()
