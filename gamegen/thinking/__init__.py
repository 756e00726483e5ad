"""Thinking is judged too: what a text says, held against the rules, the answer and the picture that came with it.

A text is read twice. Sentences in a game's own wordings, as an editor that learned from our texts writes them, are
turned back into facts, and the solver confirms each (`listener`, `claims`). Texts in anybody's words are searched for
moves, cells, digits and directions, and these are played (`told`, `replay`, one reader a game). Neither sees whether an
argument is sound, only whether what it states is true; a text that states nothing is neither right nor wrong, and the
fields that would say so are None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.plugin import Plugin
from gamegen.images import Source
from gamegen.judge import problem_of, read
from gamegen.registry import plugin_of
from gamegen.thinking.agreement import agree, changed_cells, share_on_board
from gamegen.thinking.cells import cells
from gamegen.thinking.claims import Claim, Story, solution_of, story
from gamegen.thinking.replay import Replay, reader_of, replay
from gamegen.thinking.told import Told

__all__ = ["Claim", "Replay", "Thinking", "check_reasoning"]


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a text says, as far as it can be held against something."""

    claims: tuple[Claim, ...]  # its sentences in our own wordings, each true or not
    replays: Replay | None  # the moves it tells, played; None if it tells none that can be read
    named: tuple[Cell, ...]  # cells, in the order of the text, as often as it names them; rows and columns from 0
    final: tuple[Cell, ...]  # those of the last sentence that names a cell
    valid: float  # share of the named cells that are on the board; 1 if none is named
    consistent_with_answer: bool | None  # with the row's own answer; another right one may be consistent with itself
    consistent_with_image: bool | None  # with the picture that came with the text; None if it cannot be read

    @property
    def legal(self) -> bool | None:
        return None if self.replays is None else self.replays.legal

    @property
    def correct(self) -> bool | None:
        """Whether its moves lead to a result that the rules accept."""
        return None if self.replays is None else self.replays.correct

    @property
    def first_false(self) -> Claim | None:
        return next((claim for claim in self.claims if not claim.true), None)

    @property
    def holds(self) -> bool | None:
        """Whether nothing that it says was found false; None if it says nothing that can be checked."""
        if self.first_false or self.legal is False or self.correct is False or self.valid < 1:
            return False
        return True if self.claims or self.replays else None


def check_reasoning(row: Mapping[str, Any], text: str, image: Source | None = None) -> Thinking:
    """Hold a text against its row, and against the edited picture that came with it.

    A text is consistent with a result if its moves lead there; if they cannot be read, if it ends on cells that changed
    there (`agreement.agree`), not counting those that the question itself names.
    """
    problem, style = problem_of(row)
    task = str(row["task"])
    plugin, _ = plugin_of(task)
    told = Told(task, problem, style, text)
    ours = story(task, problem, style, text)
    played = ours.replay or replay(told)
    sentences = [sentence.cells for sentence in told.sentences if sentence.cells]
    named, final = tuple(place.cell for place in told.places), sentences[-1] if sentences else ()
    given = set(cells(f"{row.get('rules', '')} {row.get('instruction', '')}", style.labels))

    def consistent(position: str | None) -> bool | None:
        if position is None:
            return None
        if played is not None and played.position is not None and played.correct is not None:
            return _same(plugin, played.position, position)
        changed = changed_cells(plugin, problem, style, position) if named else None
        return None if changed is None else agree(set(final) - given or set(final), set(named), changed)

    return Thinking(
        claims=_judged(ours, played, str(solution_of(task, problem).after)),
        replays=played,
        named=named,
        final=final,
        valid=share_on_board(plugin, problem, named),
        consistent_with_answer=consistent(row.get("position_after")),
        consistent_with_image=consistent(_seen(row, image)),
    )


def _judged(ours: Story, played: Replay | None, answer: str) -> tuple[Claim, ...]:
    """The claims; if the text tells another right answer than the solver's, without those that may belong to it.

    If it tells both, it contradicts itself, and nothing is let off.
    """
    other = played is not None and played.correct and played.position != answer and not ours.answers
    return tuple(claim for claim in ours.claims if claim.true or claim.firm or not other)


def _same(plugin: Plugin, one: str, other: str) -> bool:
    """Whether two results are the same to whoever tells or draws them; a game's reader may say what does not count."""
    if one == other:
        return True
    alike = getattr(reader_of(plugin.game.name), "alike", None)
    return alike is not None and bool(alike(plugin.game.parse(one), plugin.game.parse(other)))


def _seen(row: Mapping[str, Any], image: Source | None) -> str | None:
    try:
        return None if image is None else read(row, image)
    except UnreadableImage:
        return None
