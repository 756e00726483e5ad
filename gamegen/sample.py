"""A sample, built from its key: problem, solution, look, pictures and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.categories import CATEGORIES
from gamegen.core.errors import Rejected, Unsolvable, unknown
from gamegen.core.key import Key
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Problem, Solution, steps_to_json
from gamegen.core.rendering import Picture, Style
from gamegen.core.words import Speaker
from gamegen.registry import plugin_of
from renderers.png import encode_indexed, encode_mask

ATTEMPTS = 20_000
"""Candidates drawn before a key is given up; far above what any game needs."""

TEST_SHARE = 0.2
"""The share of canonical positions that belongs to the test split."""

COLUMNS = (
    "id", "task", "game", "scenario", "dimension", "category", "level", "split", "seed", "index",
    "skin", "language", "pixels", "original_image", "edited_image", "mask_image",
    "instruction", "rules", "reference_effect", "reasoning", "steps", "params",
    "position_before", "position_after", "style",
    "effort", "solution_length", "search_nodes", "branching", "forced_share", "generator_version",
)  # fmt: skip
"""The columns of a row, in the order in which every writer stores them."""


class Sample(Mapping[str, Any]):
    """One problem with its answer. As a mapping it is its row, so it collates, converts and prints like one."""

    def __init__(self, key: Key, plugin: Plugin, problem: Problem[Any], drops: Counter[str]) -> None:
        self.key = key
        self.plugin = plugin
        self.problem = problem
        self.drops = drops  # candidates turned down on the way, by reason

    @property
    def id(self) -> str:
        return self.key.id

    @cached_property
    def solution(self) -> Solution[Any]:
        return self.plugin.solver.solve(self.problem)

    @cached_property
    def style(self) -> Style:
        renderer = self.plugin.renderer
        skin = self.key.skin or self.key.stream("skin").choice(renderer.skins)
        if skin not in renderer.skins:
            raise unknown(f"skin of {self.plugin.game.name}", skin, renderer.skins)
        return renderer.style(self.problem, skin=skin, pixels=self.key.pixels, rng=self.key.stream("style"))

    @cached_property
    def original_picture(self) -> Picture:
        return self.plugin.renderer.render(self.problem.position, self.style)

    @cached_property
    def edited_picture(self) -> Picture:
        return self.plugin.renderer.render(self.solution.after, self.style)

    @property
    def original(self) -> Image.Image:
        return self.original_picture.image()

    @property
    def edited(self) -> Image.Image:
        return self.edited_picture.image()

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(H, W): where an editor may draw. It does not tell where the answer is."""
        cells = self.plugin.game.may_change(self.problem)
        return self.plugin.renderer.mask(cells, self.problem.position, self.style)

    @cached_property
    def texts(self) -> dict[str, str]:
        """rules, instruction, reference_effect and reasoning, in the key's language."""
        renderer, language = self.plugin.renderer, self.key.language
        speaker = Speaker(
            self.plugin.words,
            language,
            labels=self.style.labels,
            terms=renderer.terms(self.style, language),
            rng=self.key.stream("words"),
        )
        kind, solution = self.problem.kind, self.solution
        asked = self.plugin.solver.asked(self.problem)
        effect = speaker.say(kind, "effect", {**asked, **solution.result})
        thoughts = [speaker.say("steps", step.rule, step.facts) for step in solution.steps]
        return {
            "rules": speaker.say(kind, "rules", asked),
            "instruction": speaker.say(kind, "instruction", asked),
            "reference_effect": effect,
            "reasoning": speaker.join([*thoughts, effect]),
        }

    @property
    def instruction(self) -> str:
        return self.texts["instruction"]

    @property
    def rules(self) -> str:
        return self.texts["rules"]

    @property
    def reference_effect(self) -> str:
        return self.texts["reference_effect"]

    @property
    def reasoning(self) -> str:
        return self.texts["reasoning"]

    @property
    def prompt(self) -> str:
        """What an editor is told."""
        return f"{self.rules} {self.instruction}"

    def forget_pictures(self) -> None:
        """Let go of the drawn pictures; the row keeps them as PNG, and a look at them draws them again."""
        self.__dict__.pop("original_picture", None)
        self.__dict__.pop("edited_picture", None)

    def row(self) -> dict[str, Any]:
        """The mapping that every writer stores; pictures are PNG bytes, steps, params and style are JSON."""
        return self._row

    @cached_property
    def _row(self) -> dict[str, Any]:
        key, game, solution, texts = self.key, self.plugin.game, self.solution, self.texts
        difficulty = solution.difficulty
        before, after = self.original_picture, self.edited_picture
        return {
            "id": key.id,
            "task": key.task,
            "game": game.name,
            "scenario": CATEGORIES[game.category][0] if game.category in CATEGORIES else "game",
            "dimension": game.dimension,
            "category": game.category,
            "level": key.level,
            "split": key.split,
            "seed": key.seed,
            "index": key.index,
            "skin": self.style.skin,
            "language": key.language,
            "pixels": key.pixels,
            "original_image": encode_indexed(before.pixels, before.palette),
            "edited_image": encode_indexed(after.pixels, after.palette),
            "mask_image": encode_mask(self.mask),
            "instruction": texts["instruction"],
            "rules": texts["rules"],
            "reference_effect": texts["reference_effect"],
            "reasoning": texts["reasoning"],
            "steps": steps_to_json(solution.steps),
            "params": orjson.dumps(dict(self.problem.params)).decode(),
            "position_before": str(self.problem.position),
            "position_after": str(solution.after),
            "style": self.style.to_json(),
            "effort": difficulty.effort,
            "solution_length": difficulty.length,
            "search_nodes": difficulty.nodes,
            "branching": difficulty.branching,
            "forced_share": difficulty.forced,
            "generator_version": key.version,
        }

    def __getitem__(self, column: str) -> Any:
        return self._row[column]

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Sample({self.id!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return make_sample, (self.key,)


def make_sample(key: Key | str) -> Sample:
    """The sample of a key or id: the same on every machine."""
    if isinstance(key, str):
        key = Key.parse(key)
    plugin, kind = plugin_of(key.task)
    drops: Counter[str] = Counter()
    members = members_of(key.task, key.level, key.split)
    if members is not None:
        lap, place = divmod(key.index, len(members))
        problem = members[_order(key.task, key.level, key.split, key.seed, lap)[place]]
        return Sample(key, plugin, problem, drops)
    for attempt in range(ATTEMPTS):
        try:
            problem = plugin.solver.generate(kind, key.level, key.stream("problem", attempt))
        except Rejected as rejected:
            drops[rejected.reason] += 1
            continue
        if split_of(plugin.game.name, plugin.game.canonical(problem.position)) != key.split:
            drops["other split"] += 1
            continue
        return Sample(key, plugin, problem, drops)
    raise Unsolvable(f"{key.id}: no problem found in {ATTEMPTS} candidates; turned down: {dict(drops)}")


def split_of(game: str, canonical: str) -> str:
    """train or test, decided by the canonical form alone: the two can never share a position."""
    digest = blake2b(f"{game}\x1f{canonical}".encode(), digest_size=8).digest()
    return "test" if int.from_bytes(digest, "big") < TEST_SHARE * 2**64 else "train"


@lru_cache(maxsize=256)
def members_of(task: str, level: int, split: str) -> tuple[Problem[Any], ...] | None:
    """Of a finite game, the problems of one level and split; None for a game that is drawn from."""
    plugin, kind = plugin_of(task)
    universe = plugin.solver.universe(kind, level)
    if universe is None:
        return None
    game = plugin.game
    return tuple(p for p in universe if split_of(game.name, game.canonical(p.position)) == split)


@lru_cache(maxsize=64)
def _order(task: str, level: int, split: str, seed: int, lap: int) -> list[int]:
    """A seed's walk through a finite set: every member once a lap."""
    members = members_of(task, level, split) or ()
    return Key(task, split=split, level=level, seed=seed).stream("order", lap).shuffled(range(len(members)))
