"""First stage: a language model writes triples of description, instruction and effect after hand-made examples.

Each request is for one category. It shows examples and names subjects that are drawn from the seed, so that no two
requests are alike; categories take turns, so that asking for more later only adds requests at the end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.errors import BadInput, JudgeFailed
from gamegen.core.stream import Stream
from realworld.asking import Ask, prompt_named, run_asking
from realworld.recipe import Triples
from realworld.run import Run, fingerprint
from realworld.stage import Done, Piece, Progress
from scoring.parse import last_object, shortened

REAL = tuple(name for name, (scenario, _) in CATEGORIES.items() if scenario == "real")
TEXTS = ("description", "instruction", "effect")
WORDS = {"description": (5, 80), "instruction": (3, 60), "effect": (6, 120)}
"""Fewest and most words of each text."""

GIVEN_AWAY = 0.5
"""The share of an effect's words, in one run, that its instruction may not contain."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "triples": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in TEXTS},
                "required": list(TEXTS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["triples"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Seeds:
    """What a category means, and its hand-made triples."""

    category: str
    meaning: str
    triples: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Order:
    """One request."""

    category: str
    meaning: str
    examples: tuple[Mapping[str, str], ...]
    subjects: tuple[str, ...]

    def values(self) -> dict[str, str]:
        """What the prompt shows."""
        return {
            "category": self.category,
            "meaning": self.meaning,
            "examples": "\n".join(orjson.dumps(dict(triple)).decode() for triple in self.examples),
            "subjects": "\n".join(f"{number}. {subject}" for number, subject in enumerate(self.subjects, 1)),
            "count": str(len(self.subjects)),
        }


def write_triples(run: Run, options: Triples, progress: Progress) -> Done:
    seeds = seeds_of(options)
    return run_asking(
        run,
        "triples",
        options,
        orders(options, seeds),
        _answer,
        prompts=["triples"],
        plan={
            "seed": options.seed,
            "batch": options.batch,
            "examples": options.examples,
            "seeds": fingerprint(*(orjson.dumps([each.meaning, *each.triples]) for each in seeds.values())),
        },
        order=_turn,
        progress=progress,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        schema=SCHEMA,
    )


def seeds_of(options: Triples) -> dict[str, Seeds]:
    return load_seeds(Path(options.seeds) if options.seeds else None)


def orders(options: Triples, seeds: Mapping[str, Seeds]) -> list[Piece[Order]]:
    """All requests, in order."""
    names = [category(name) for name in options.categories.split(",")] if options.categories else list(REAL)
    for name in names:
        if name not in seeds:
            raise BadInput(f"there are no example triples for {name!r}; there are for: {', '.join(seeds)}")
        if len(seeds[name].triples) < options.examples:
            raise BadInput(
                f"{name!r} has {len(seeds[name].triples)} example triples, so {options.examples} are too many"
            )
    subjects = tomllib.loads((files("realworld") / "subjects.toml").read_text(encoding="utf-8"))["subjects"]
    pieces = []
    for number in range(1, -(-options.count // options.batch) + 1):
        for name in names:
            stream = Stream("triples", options.seed, name, number)
            shown = stream.sample(seeds[name].triples, options.examples)
            order = Order(name, seeds[name].meaning, tuple(shown), tuple(_draw(stream, subjects, options.batch)))
            of = fingerprint(*order.values().values())
            pieces.append(Piece(f"{_slug(name)}-{number}", of, order))
    return pieces


def _slug(category: str) -> str:
    return category.lower().replace(" ", "-")


def _turn(piece: str) -> tuple[int, int]:
    """Where a request stands, whichever categories were asked for first."""
    slug, _, number = piece.rpartition("-")
    return int(number), [_slug(name) for name in REAL].index(slug)


def load_seeds(folder: Path | None) -> dict[str, Seeds]:
    """Example triples by category, ours or from a folder; each is held to what is asked of a model."""
    found = {}
    for path in sorted((folder or Path(str(files("realworld") / "seeds"))).glob("*.toml")):
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            each = Seeds(category(data["category"]), data["meaning"], tuple(data["triple"]))
        except KeyError as error:
            raise BadInput(f"{path} is no file of example triples: it has no {error}") from error
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(f"{path} is no file of example triples: {error}") from error
        if each.category not in REAL:
            raise BadInput(f"{path}: {each.category} is no real-world category; these are: {', '.join(REAL)}")
        for number, triple in enumerate(each.triples, 1):
            reason = objection(triple)
            if reason:
                raise BadInput(f"{path}, triple {number}: {reason}")
        found[each.category] = each
    if not found:
        raise BadInput(f"{folder} holds no example triples: expected one TOML file a category")
    return found


async def _answer(order: Order, ask: Ask) -> dict[str, Any]:
    items = await ask(prompt_named("triples"), {**order.values()}, read_reply)
    count = len(order.subjects)
    return {
        "asked": count,
        "category": order.category,
        "triples": [_checked(order.category, item, number < count) for number, item in enumerate(items)],
    }


def read_reply(reply: str) -> list[Any]:
    found = last_object(reply, "triples")
    if found is None or not isinstance(found["triples"], list) or not found["triples"]:
        raise JudgeFailed(f"the reply is no JSON object with triples, or is cut off: {shortened(reply)}")
    return found["triples"]


def _checked(name: str, item: object, wanted: bool) -> dict[str, str]:
    reason = objection(item) if wanted else "more than were asked for"
    known = item if isinstance(item, dict) else {}
    texts = {text: " ".join(str(known[text]).split()) for text in TEXTS if text in known}
    return {"drop": reason, **texts} if reason else {"category": name, **texts}


def objection(item: object) -> str:
    """What is wrong with a triple; nothing if it will do."""
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in TEXTS):
        return "not a triple of texts"
    for name, (fewest, most) in WORDS.items():
        count = len(item[name].split())
        if not fewest <= count <= most:
            return f"the {name} is too {'short' if count < fewest else 'long'}"
    if _given_away(item["instruction"], item["effect"]):
        return "the instruction gives the effect away"
    return ""


def _given_away(instruction: str, effect: str) -> bool:
    said, result = (re.findall(r"\w+", text.lower()) for text in (instruction, effect))
    longest = SequenceMatcher(None, said, result, autojunk=False).find_longest_match()
    return longest.size > GIVEN_AWAY * len(result)


def _draw(stream: Stream, subjects: list[str], count: int) -> Iterator[str]:
    """Different ones as long as there are any."""
    while count > 0:
        yield from stream.sample(subjects, min(count, len(subjects)))
        count -= len(subjects)
