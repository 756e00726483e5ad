"""Facts into sentences: wordings are data (`gamegen/words/NAME.toml`), one table a language.

    [en.KIND]   rules, instruction, effect: lists of wordings
    [en.steps]  one list of wordings per rule that a reasoning step can name
    [en.terms]  words for facts written `@name`; colours, directions and the like are shared in terms.toml

In a wording `{cell}` becomes what the picture's labels call the cell, `{words}` a list joined as lists are,
and `{count:box|boxes}` "no boxes", "1 box" or "3 boxes" (`{count:#box|boxes}` the bare noun).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gamegen.core.cell import Cell, Labels
from gamegen.core.errors import BadInput
from gamegen.core.problem import Fact
from gamegen.core.stream import Stream

FOLDER = Path(__file__).parent.parent / "words"
_JOIN = {"en": (", ", " and "), "zh": ("、", "和")}
_BETWEEN = {"en": " ", "zh": ""}


class Speaker:
    """Says things about one sample: in its language, by its labels, in wordings its own stream picks."""

    def __init__(self, book: Path, language: str, *, labels: Labels, terms: Mapping[str, str], rng: Stream) -> None:
        self._sections = sections_of(book, language)
        self._language = language
        self._labels = labels
        self._terms = terms_of(book, language) | dict(terms)
        self._skin_terms = terms
        self._rng = rng

    def say(self, section: str, name: str, facts: Mapping[str, Fact]) -> str:
        """One sentence or more: a wording of `[section] name` with the facts put in."""
        try:
            wordings = self._sections[section][name]
        except KeyError:
            raise BadInput(f"no words for {section}.{name} in language {self._language!r}") from None
        wording = wordings[0] if len(wordings) == 1 else self._rng.choice(wordings)
        spoken = _Spoken(self, facts)
        text: str = wording.format_map(spoken)
        if "{" in text:  # a term may itself have places for facts
            text = text.format_map(spoken)
        return text[:1].upper() + text[1:]

    def word(self, name: str, facts: Mapping[str, Fact]) -> str | Count:
        """What stands for `{name}`: a fact, or else what the skin calls it."""
        return self._spoken(facts[name]) if name in facts else self._skin_terms[name]

    def join(self, sentences: list[str]) -> str:
        return _BETWEEN[self._language].join(sentences)

    def _spoken(self, fact: Fact) -> str | Count:
        if isinstance(fact, str):
            return self._terms[fact[1:]] if fact[:1] == "@" else fact
        if isinstance(fact, Cell):
            return self._labels.name(fact, self._language)
        if isinstance(fact, int):
            return Count(fact)
        comma, last = _JOIN[self._language]
        if self._language == "en" and any(isinstance(item, Cell) for item in fact) and self._labels.cols != "A":
            comma, last = "; ", " and "  # a cell's own name has a comma in it
        parts = [str(self._spoken(item)) for item in fact]
        return parts[0] if len(parts) == 1 else comma.join(parts[:-1]) + last + parts[-1]


class _Spoken(dict[str, Any]):
    """The words of one sentence, each looked up when the wording asks for it: most facts are never spoken."""

    __slots__ = ("facts", "speaker")

    def __init__(self, speaker: Speaker, facts: Mapping[str, Fact]) -> None:
        self.speaker = speaker
        self.facts = facts

    def __missing__(self, name: str) -> str | Count:
        return self.speaker.word(name, self.facts)


class Count(int):
    """A number that can choose its noun: `{count:box|boxes}`."""

    def __format__(self, spec: str) -> str:
        if "|" not in spec:
            return super().__format__(spec)
        one, many = spec.lstrip("#").split("|")
        noun = one if self == 1 else many
        return noun if spec.startswith("#") else f"{int(self) or 'no'} {noun}"


@lru_cache(maxsize=64)
def _load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def sections_of(book: Path, language: str) -> dict[str, dict[str, list[str]]]:
    table = _load(book)
    if language not in table:
        raise BadInput(f"{book.name} has no words in language {language!r}, only in {', '.join(table)}")
    return dict(table[language])


@lru_cache(maxsize=64)
def terms_of(book: Path, language: str) -> dict[str, str]:
    shared: dict[str, str] = _load(FOLDER / "terms.toml")[language]
    own: dict[str, str] = _load(book)[language].get("terms", {})
    return shared | own
