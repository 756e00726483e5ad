"""Sentence by sentence: what a text claims in a game's own wordings, and whether the solver confirms it.

Most wordings leave something unsaid that the solver needs (from which cell, in which round). It is filled in from the
solver's own line of thought, so a sentence that belongs to another line, however right, cannot be confirmed from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gamegen.core.errors import GamegenError
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Fact, Problem, Solution, Step
from gamegen.core.rendering import Style
from gamegen.registry import plugin_of
from gamegen.thinking.listener import EFFECT, Heard, Listener
from gamegen.thinking.replay import Replay


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a text says and that could be checked, with the place where it says so."""

    text: str
    start: int
    end: int
    true: bool
    firm: bool = True  # False if it leaves unsaid what was filled in from the solver's line: it may belong to another


@dataclass(frozen=True, slots=True)
class Story:
    """A text in our own wordings."""

    claims: tuple[Claim, ...]
    replay: Replay | None  # its actions, if every claim of it was confirmed
    answers: bool  # the actions that were confirmed lead to a right answer, whatever else it says


@lru_cache(maxsize=256)
def solution_of(task: str, problem: Problem[Any]) -> Solution[Any]:
    return plugin_of(task)[0].solver.solve(problem)


def story(task: str, problem: Problem[Any], style: Style, text: str) -> Story:
    """The sentences in our own wordings, held against the positions of the solver's line as it goes on."""
    plugin, _ = plugin_of(task)
    solution = solution_of(task, problem)
    effect = {**plugin.solver.asked(problem), **solution.result}
    examples: dict[str, list[Mapping[str, Fact]]] = {EFFECT: [effect]}
    for step in solution.steps:
        examples.setdefault(step.rule, []).append(step.facts)
    listener = Listener(plugin, problem.kind, style, language_of(text), examples)
    position, claims, actions = problem.position, [], []
    for readings in listener.hear(text):
        after = _confirmed(plugin, problem, position, solution.steps, effect, readings)
        heard = readings[0]
        firm = after is not None or not any(_leaves_unsaid(each, examples) for each in readings)
        claims.append(Claim(text[heard.start : heard.end], heard.start, heard.end, after is not None, firm))
        if after is not None:
            position, action = after
            actions += [action] if action else []
    correct = bool(actions) and plugin.solver.check(problem, position).correct
    whole = actions and all(claim.true for claim in claims)
    replay = Replay(tuple(actions), legal=True, correct=correct, position=str(position)) if whole else None
    return Story(tuple(claims), replay, correct)


def language_of(text: str) -> str:
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"


def _confirmed(
    plugin: Plugin,
    problem: Problem[Any],
    position: Any,
    steps: Sequence[Step],
    effect: Mapping[str, Fact],
    readings: Sequence[Heard],
) -> tuple[Any, str] | None:
    """The position after the sentence, and its action or nothing; None if no reading of the sentence is confirmed."""
    for heard in readings:
        if heard.rule == EFFECT and heard.sound and all(effect.get(name) == fact for name, fact in heard.facts.items()):
            return position, ""
        unsaid = [step for step in steps if step.rule == heard.rule] or [Step(heard.rule)]
        unsaid.sort(key=lambda like: sum(like.facts.get(name) != fact for name, fact in heard.facts.items()))
        for like in unsaid if heard.sound else ():
            step = Step(heard.rule, {**like.facts, **heard.facts}, like.action)
            after = _after(plugin, problem, position, step)
            if after is not None:
                return after, step.action
    return None


def _leaves_unsaid(heard: Heard, examples: Mapping[str, Sequence[Mapping[str, Fact]]]) -> bool:
    alike = examples.get(heard.rule, ())
    return heard.sound and (
        heard.rule == EFFECT or not alike or any(facts.keys() - heard.facts.keys() for facts in alike)
    )


def _after(plugin: Plugin, problem: Problem[Any], position: Any, step: Step) -> Any:
    """The position after the step; None if the solver does not confirm it, as with facts that nobody would state."""
    try:
        if not plugin.solver.confirm(problem, position, step):
            return None
        return plugin.game.apply(position, plugin.game.parse_action(step.action)) if step.action else position
    except (GamegenError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError):
        return None
