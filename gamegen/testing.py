"""The laws: what must hold for every game, skin and level, ours and other people's.

    from gamegen.testing import check_game
    check_game("mygame")        # raises LawBroken with the law, the sample's id and what was found

Each law is a function of a game's name and the number of samples to try per task and level.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import pairwise, product
from typing import Any

import numpy as np
from PIL import Image

from gamegen.core.errors import BadInput, IllegalAction, UnreadableImage
from gamegen.core.key import LANGUAGES, LARGEST, LEVELS, SMALLEST, Key
from gamegen.core.problem import steps_from_json
from gamegen.core.stream import Stream
from gamegen.judge import look, verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.registry import plugin
from gamegen.sample import COLUMNS, Sample, make_sample, members_of


class LawBroken(AssertionError):
    """A law does not hold; the message names it, the sample and what was found."""


def check_game(name: str, *, samples: int = 3) -> None:
    """Run every law on a game: `samples` per task and level (some laws need, and take, more)."""
    for law in LAWS:
        law(name, samples)


def _each(name: str, samples: int, *, seed: int = 1, split: str = "train", **shown: Any) -> Iterator[Sample]:
    for task in plugin(name).game.tasks:
        for level in LEVELS:
            for index in range(samples):
                yield make_sample(Key(f"{name}/{task.kind}", split, level, seed, index, **shown))


def _demand(truth: bool, law: str, where: str, found: object) -> None:
    if not truth:
        raise LawBroken(f"{law}: {where}: {found}")


def same_key_same_bytes(name: str, samples: int) -> None:
    """The same key gives the same row, by key and by id, also in another process with another hash seed."""
    digest = fingerprint(name, samples)
    for sample in _each(name, 1):
        again = make_sample(sample.id)
        _demand(again.row() == sample.row(), "same key, same bytes", sample.id, "the rows differ")
        _demand(tuple(sample.row()) == COLUMNS, "rows have all columns", sample.id, tuple(sample.row()))
    code = f"from gamegen.testing import fingerprint; print(fingerprint({name!r}, {samples}))"
    for hash_seed in ("1", "77"):
        environment = _environment() | {"PYTHONHASHSEED": hash_seed}
        other = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )
        _demand(other.stdout.strip() == digest, "same bytes in another process", name, other.stdout + other.stderr)


def fingerprint(name: str, samples: int) -> str:
    """One hash of many rows: positions, text and pixels, but not how the PNG was packed."""
    digest = blake2b(digest_size=16)
    for sample in _each(name, samples):
        for column, value in sample.row().items():
            if not isinstance(value, bytes):
                digest.update(f"{column}={value}\n".encode())
        for picture in (sample.original_picture, sample.edited_picture):
            digest.update(picture.pixels.tobytes() + picture.palette.tobytes())
    return digest.hexdigest()


def seeds_share_nothing(name: str, samples: int) -> None:
    """Neighbouring seeds give other problems, one seed hardly ever the same twice; finite games walk their set."""
    found = plugin(name)
    for task in found.game.tasks:
        for level in LEVELS:
            draws = [_canonicals(f"{name}/{task.kind}", level, seed, 10 * samples) for seed in (7, 8)]
            where = f"{name}/{task.kind} level {level}"
            members = members_of(f"{name}/{task.kind}", level, "train")
            if members is not None:
                _demand(bool(members), "both splits have problems", where, "none in train")
                _demand(
                    bool(members_of(f"{name}/{task.kind}", level, "test")),
                    "both splits have problems",
                    where,
                    "none in test",
                )
                continue
            both = set(draws[0]) & set(draws[1])
            distinct = min(len(set(draw)) for draw in draws)
            _demand(distinct >= 0.95 * 10 * samples, "distinct", where, f"{distinct} of {10 * samples} are distinct")
            _demand(len(both) <= 0.05 * 10 * samples, "neighbouring seeds", where, f"{len(both)} positions shared")


def _canonicals(task: str, level: int, seed: int, count: int) -> list[str]:
    game = plugin(task.partition("/")[0]).game
    keys = (Key(task, level=level, seed=seed, index=index) for index in range(count))
    return [game.canonical(make_sample(key).problem.position) + repr(make_sample(key).problem.params) for key in keys]


def text_is_faithful(name: str, samples: int) -> None:
    """`parse(str(x)) == x` for positions, actions and steps; nonsense is refused."""
    game = plugin(name).game
    for sample in _each(name, samples):
        rng = sample.key.stream("law")
        for position in (sample.problem.position, sample.solution.after, game.mutate(sample.solution.after, rng)):
            _demand(game.parse(str(position)) == position, "parse inverts str", sample.id, position)
        for step in sample.solution.steps:
            if step.action:
                _demand(str(game.parse_action(step.action)) == step.action, "actions parse", sample.id, step.action)
        same = [(s.rule, dict(s.facts), s.action) for s in sample.solution.steps]
        back = [(s.rule, dict(s.facts), s.action) for s in steps_from_json(sample["steps"])]
        _demand(same == back, "steps survive JSON", sample.id, sample["steps"])
    for nonsense in ("", "?", "\n\n", "§ nonsense §"):
        for parse in (game.parse, game.parse_action):
            try:
                parse(nonsense)
            except BadInput:
                continue
            raise LawBroken(f"nonsense is refused: {name}: {parse.__name__}({nonsense!r}) raised nothing")


def legal_actions_keep_faith(name: str, samples: int) -> None:
    """Legal actions lead to sound positions; an action that is not legal raises IllegalAction."""
    game = plugin(name).game
    pool: list[Any] = []
    for sample in _each(name, samples):
        position = sample.problem.position
        _demand(not game.faults(position), "problems are sound", sample.id, game.faults(position))
        legal = list(game.actions(position))
        for action in legal[:20]:
            faults = game.faults(game.apply(position, action))
            _demand(not faults, "legal actions keep invariants", sample.id, (str(action), faults))
        for action in pool[-30:]:
            if action not in legal:
                try:
                    game.apply(position, action)
                except IllegalAction:
                    continue
                raise LawBroken(f"illegal actions raise: {sample.id}: {action} is not listed as legal, yet it applied")
        pool += legal[:5]


def solution_replays(name: str, samples: int) -> None:
    """The actions lead from before to after; every step's claim is true where it is made; the rules accept the end."""
    game, solver = plugin(name).game, plugin(name).solver
    for sample in _each(name, samples):
        position = sample.problem.position
        for step in sample.solution.steps:
            _demand(solver.confirm(sample.problem, position, step), "claims are true", sample.id, step)
            if step.action:
                position = game.apply(position, game.parse_action(step.action))
        _demand(
            position == sample.solution.after, "actions replay", sample.id, f"{position} is not {sample.solution.after}"
        )
        check = solver.check(sample.problem, position)
        _demand(check.correct and check.legal and check.preserved == 1, "the solution is right", sample.id, check)
        _demand(
            not solver.check(sample.problem, sample.problem.position).correct, "doing nothing is wrong", sample.id, ""
        )


def words_are_whole(name: str, samples: int) -> None:
    """Every language has every sentence; wordings vary; no brace or term is left unfilled."""
    for language in LANGUAGES:
        seen: dict[str, set[str]] = {}
        for sample in _each(name, max(2, samples), language=language):
            for column, value in sample.texts.items():
                left = {"{", "}", "@", "  "} & {mark for mark in ("{", "}", "@", "  ") if mark in value}
                _demand(bool(value) and not left, "sentences are filled", sample.id, f"{column}: {value!r}")
                seen.setdefault(column, set()).add(value)
            _demand(sample.reasoning.endswith(sample.reference_effect), "reasoning ends in the result", sample.id, "")
            _demand(len(sample.reasoning) < 4000, "reasoning is not a book", sample.id, len(sample.reasoning))
        _demand(len(seen["instruction"]) > 1, "wordings vary", f"{name} in {language}", seen["instruction"])


def every_size_is_drawn(name: str, samples: int) -> None:
    """In every skin, at the least and the largest size, easy and hard samples are drawn, and their answers pass."""
    for task, skin in product(plugin(name).game.tasks, plugin(name).renderer.skins):
        for pixels, level, index in product((SMALLEST, LARGEST), (LEVELS[0], LEVELS[-1]), range(samples)):
            sample = make_sample(Key(f"{name}/{task.kind}", "train", level, 1, index, skin=skin, pixels=pixels))
            verdict = verify(sample, sample.edited)
            _demand(verdict.correct, "the answer passes in every size", sample.id, verdict.reason)


def pictures_read_back(name: str, samples: int) -> None:
    """In every skin, right and wrong positions are read back exactly, also through moderate perturbations."""
    found = plugin(name)
    game, renderer = found.game, found.renderer
    names = list(PERTURBATIONS)
    for skin in renderer.skins:
        for number, sample in enumerate(_each(name, 1, skin=skin, pixels=(256, 512, 1024)[len(skin) % 3])):
            rng = sample.key.stream("law")
            wrong = game.mutate(sample.solution.after, rng)
            for position in (sample.problem.position, sample.solution.after, wrong):
                _reads(sample, position, "read inverts render", lambda image: image)
            for kind in (names[(number * 3 + step) % len(names)] for step in range(3)):
                _reads(
                    sample,
                    sample.solution.after,
                    f"read through {kind}",
                    lambda image, kind=kind: PERTURBATIONS[kind](image, MODERATE[kind], Stream(kind)),  # type: ignore[misc]
                )


def _reads(sample: Sample, position: Any, law: str, change: Callable[[Image.Image], Image.Image]) -> None:
    image = change(sample.plugin.renderer.render(position, sample.style).image())
    try:
        reading = look(sample.plugin, sample.problem, sample.style, image)
    except UnreadableImage as error:
        raise LawBroken(f"{law}: {sample.id} in {sample.style.skin} at {sample.key.pixels} px: {error}") from error
    if reading.position != position:
        raise LawBroken(f"{law}: {sample.id} in {sample.style.skin}: read\n{reading.position}\ninstead of\n{position}")


def verdicts_follow_the_rules(name: str, samples: int) -> None:
    """Gold scores 1; original, blank, nothing and another sample's gold do not; mutations score what the rules say."""
    found = plugin(name)
    last: Sample | None = None
    for sample in _each(name, samples):
        row = sample.row()
        gold = verify(row, sample.edited)
        _demand(gold.correct and gold.readable and gold.score == 1, "gold is right", sample.id, gold)
        blank = Image.new("RGB", (512, 512), "white")
        for label, image in (("the original", sample.original), ("a blank", blank), ("nothing", None)):
            _demand(not verify(row, image).correct, "no false accept", sample.id, label)
        if last is not None and last.problem != sample.problem:
            other = verify(row, last.edited)
            if other.correct:
                fits = found.solver.check(sample.problem, found.game.parse(other.position)).correct
                _demand(fits, "no false accept", sample.id, f"the gold of {last.id}")
        wrong = found.game.mutate(sample.solution.after, sample.key.stream("law"))
        verdict = verify(row, found.renderer.render(wrong, sample.style).image())
        expected = found.solver.check(sample.problem, wrong).correct
        _demand(verdict.correct == expected, "mutations score what the rules say", sample.id, (str(wrong), verdict))
        last = sample


def only_the_mask_changes(name: str, samples: int) -> None:
    """Outside what may change, the two pictures of a pair are the same pixels."""
    for sample in _each(name, samples):
        before, after = sample.original_picture, sample.edited_picture
        same_palette = np.array_equal(before.palette, after.palette)
        changed = (before.rgb() != after.rgb()).any(axis=2)
        _demand(same_palette and bool(changed.any()), "the pair differs, in one look", sample.id, "")
        _demand(
            not (changed & ~sample.mask).any(), "only the mask changes", sample.id, int((changed & ~sample.mask).sum())
        )


def splits_are_disjoint(name: str, samples: int) -> None:
    """No position of train, up to symmetry, is in test."""
    game = plugin(name).game
    train = {game.canonical(s.problem.position): s.id for s in _each(name, 4 * samples)}
    for sample in _each(name, 2 * samples, split="test"):
        canonical = game.canonical(sample.problem.position)
        _demand(canonical not in train, "splits are disjoint", sample.id, f"also {train.get(canonical)}")


def levels_rise(name: str, samples: int) -> None:
    """Harder levels are harder: the mean measured effort rises with every level."""
    for task in plugin(name).game.tasks:
        means = []
        for level in LEVELS:
            keys = (Key(f"{name}/{task.kind}", level=level, seed=5, index=index) for index in range(8 * samples))
            means.append(float(np.mean([make_sample(key).solution.difficulty.effort for key in keys])))
        rising = all(low < high for low, high in pairwise(means))
        _demand(rising, "levels rise", f"{name}/{task.kind}", [round(mean, 2) for mean in means])


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


LAWS: tuple[Callable[[str, int], None], ...] = (
    same_key_same_bytes,
    seeds_share_nothing,
    text_is_faithful,
    legal_actions_keep_faith,
    solution_replays,
    words_are_whole,
    every_size_is_drawn,
    pictures_read_back,
    verdicts_follow_the_rules,
    only_the_mask_changes,
    splits_are_disjoint,
    levels_rise,
)
