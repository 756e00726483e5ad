"""The Speaker's inverse: a sentence in one of a game's own wordings becomes its rule and facts again.

An editor that learned from our texts thinks in our wordings, so its sentences can be confirmed one by one. Sentences in
other words are not heard here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise, product
from string import Formatter

from gamegen.core.cell import Cell
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Fact
from gamegen.core.rendering import Style
from gamegen.core.words import sections_of, terms_of
from gamegen.thinking.cells import places

EFFECT = "effect"
"""The name under which the sentence that describes the result alone is heard."""

MOST_READINGS = 8
"""Of one wording at one place: names that stand for several things are rare, and rarely come together."""

_ANYTHING = r"[^.!?。！？\n]+?"
_SENTENCE_END = re.compile(r"[.!?。！？\n]\s*")
_JOINS = re.compile(r"; and |, and |; |, | and |、|和")


@dataclass(frozen=True, slots=True)
class Heard:
    """A wording found in a text."""

    rule: str
    facts: Mapping[str, Fact]
    start: int
    end: int
    sound: bool  # False if one fact is told in two ways, or with words that cannot stand for it


class Listener:
    """Hears what one sample's Speaker could say. `examples`, the solver's own facts by rule, tell what each fact is."""

    def __init__(
        self,
        plugin: Plugin,
        kind: str,
        style: Style,
        language: str,
        examples: Mapping[str, Sequence[Mapping[str, Fact]]],
    ) -> None:
        book = plugin.words
        self._labels = style.labels
        self._skin = plugin.renderer.terms(style, language)
        self._terms = terms_of(book, language) | dict(self._skin)
        self._cell_shape = re.sub(r"\d", r"\\d{1,2}", re.escape(self._labels.name(Cell(6, 6), language)))
        self._cell_shape = re.sub(r"\b[Gg](?=\\)", "[A-Za-z]", self._cell_shape)
        terms = sorted(filter(None, self._terms.values()), key=len, reverse=True)
        self._term_shape = "|".join(map(re.escape, terms))
        self._examples = examples
        sections = sections_of(book, language)
        wordings = [*sections["steps"].items(), (EFFECT, sections[kind][EFFECT])]
        self._wordings = [(rule, wording, _landmark(wording)) for rule, each in wordings for wording in each]

    def hear(self, text: str) -> Iterator[list[Heard]]:
        """Sentence by sentence, everything that it can be heard as, the likeliest first; unknown ones are passed by."""
        lower = text.lower()
        patterns = [(rule, *self._pattern(rule, wording)) for rule, wording, mark in self._wordings if mark in lower]
        at = 0
        while at < len(text):
            found = [heard for rule, regex, names in patterns for heard in self._heard(rule, regex, names, text, at)]
            if found:
                found.sort(key=lambda heard: (not heard.sound, -heard.end))
                yield found
            stop = _SENTENCE_END.search(text, at)
            at = found[0].end if found else stop.end() if stop else len(text)
            at += len(text[at:]) - len(text[at:].lstrip())

    def _heard(self, rule: str, regex: re.Pattern[str], names: Sequence[str], text: str, at: int) -> Iterator[Heard]:
        """Every reading of the wording that starts here: a word may be the name of several things."""
        match = regex.match(text, at)
        if match is None:
            return
        told = [self._told(rule, name, words) for name, words in zip(names, match.groups(), strict=True)]
        for facts in islice(product(*told), MOST_READINGS):
            both = dict(zip(names, facts, strict=True))
            sound = None not in facts and all(both[name] == fact for name, fact in zip(names, facts, strict=True))
            known = {name: fact for name, fact in both.items() if fact is not None and not name.isdecimal()}
            yield Heard(rule, known, *match.span(), sound)

    def _told(self, rule: str, name: str, words: str) -> Sequence[Fact | None]:
        if name.isdecimal():  # a number that the wording itself gives
            return [int(words) if words == name else None]
        return self._facts(words, self._example(rule, name))

    def _example(self, rule: str, name: str) -> Fact | None:
        return next((facts[name] for facts in self._examples.get(rule, ()) if name in facts), None)

    def _pattern(self, rule: str, wording: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
        names: list[str] = []
        return _compiled(self._regex(rule, wording, names)), tuple(names)

    def _regex(self, rule: str, wording: str, names: list[str]) -> str:
        """The wording with a group for each fact, named in order; numbers that it gives itself are their own names."""
        regex = ""
        parts = list(Formatter().parse(wording))
        for (literal, name, spec, _), (after, *_) in zip(parts, [*parts[1:], (".", None)], strict=True):
            for words, number in re.findall(r"(\D*)(\d*)", literal):
                regex += re.escape(words) + (r"(\d+)" if number else "")
                names += [number] if number else []
            if name is not None:
                regex += self._group(rule, name, spec or "", names, alone=bool((after or "").strip()))
        return regex

    def _group(self, rule: str, name: str, spec: str, names: list[str], *, alone: bool) -> str:
        example = self._example(rule, name)
        nested = self._terms.get(example[1:], "") if isinstance(example, str) and example[:1] == "@" else ""
        if "{" in nested:  # a term with places for facts of its own
            return self._regex(rule, nested, names)
        nouns = "|".join(map(re.escape, spec.lstrip("#").split("|"))) if "|" in spec else ""
        if spec.startswith("#"):
            return f"(?:{nouns})"
        if example is None and name in self._skin:
            return re.escape(self._skin[name])
        names.append(name)
        if isinstance(example, int) or nouns:
            return rf"(\d+|no)\ (?:{nouns})" if nouns else r"(\d+)"
        if isinstance(example, Cell):
            return f"({self._cell_shape})"
        term = isinstance(example, str) and example[:1] == "@" and not alone
        return f"({self._term_shape})" if term else f"({_ANYTHING})"

    def _facts(self, words: str, example: Fact | None) -> Sequence[Fact | None]:
        """The facts that words may stand for; None alone if they cannot stand for one like the example."""
        if isinstance(example, Cell):
            return [self._cell(words)]
        if isinstance(example, int):
            return [0 if words.lower() == "no" else int(words) if words.isdecimal() else None]
        if isinstance(example, tuple):
            return [self._several(words, example[0] if example else None)]
        if isinstance(example, str):
            return self._named(words, example) or [None] if example[:1] == "@" else [words]
        guesses: tuple[Fact, ...] = (Cell(0, 0), 0, (Cell(0, 0),), "@")
        return next((facts for guess in guesses if (facts := self._facts(words, guess)) != [None]), [words])

    def _cell(self, words: str) -> Cell | None:
        found = places(words, self._labels)
        return found[0][2] if len(found) == 1 and found[0][:2] == (0, len(words)) else None

    def _several(self, words: str, example: Fact | None) -> tuple[Fact, ...] | None:
        if isinstance(example, Cell):
            found = places(words, self._labels)
            gaps = [words[one[1] : other[0]] for one, other in pairwise(found)]
            whole = found and (found[0][0], found[-1][1]) == (0, len(words))
            return tuple(cell for *_, cell in found) if whole and all(map(_JOINS.fullmatch, gaps)) else None
        items = [self._facts(part, example)[0] for part in _JOINS.split(words)]
        return tuple(item for item in items if item is not None) if None not in items else None

    def _named(self, words: str, example: str) -> list[str]:
        """Everything that goes by this name, what is likest to the example first."""
        names = [name for name, term in self._terms.items() if term.lower() == words.lower()]
        names.sort(key=lambda name: (name != example[1:], _family(name) != _family(example[1:])))
        return [f"@{name}" for name in names]


@lru_cache(maxsize=4096)
def _landmark(wording: str) -> str:
    """The longest stretch of a wording that stands in every sentence made from it: most texts lack most of them."""
    return max((re.sub(r"\d.*", "", literal) for literal, *_ in Formatter().parse(wording)), key=len).lower()


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> re.Pattern[str]:
    """Samples of one skin share their patterns, and there are more of them than `re` itself would keep."""
    return re.compile(regex, re.IGNORECASE)


def _family(term: str) -> str:
    """What terms of one kind have in common: `d` of `d4`, `white` of `white-king`."""
    return re.split(r"[-_\d]", term)[0]
