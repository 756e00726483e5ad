"""What one plays with, without a window: every key or click makes a new session out of the old one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from gamegen.animate import replay
from gamegen.core.cell import Cell
from gamegen.core.key import Key
from gamegen.core.rendering import Picture
from gamegen.core.words import Speaker
from gamegen.play.pointing import Places, Pointer, named
from gamegen.sample import Sample, make_sample


@dataclass(frozen=True, slots=True)
class Tried:
    """A move made by hand, and the position it led to."""

    action: str  # as it is told
    position: Any


@dataclass(frozen=True, slots=True)
class Session:
    """The solution up to step `at`, the moves tried by hand from there, and what is being pointed at."""

    sample: Sample
    line: tuple[Any, ...]  # the position before the solution, and after each of its steps
    thoughts: tuple[str, ...]  # what each step says
    places: Places
    pointer: Pointer  # of the position shown
    at: int = 0
    tried: tuple[Tried, ...] = ()
    clicks: tuple[Cell, ...] = ()
    options: tuple[Any, ...] = ()  # actions to choose from
    chosen: int = 0
    hint: bool = False
    message: str = ""

    @classmethod
    def start(cls, key: Key) -> Session:
        """The sample of a key, in English: the window has no letters for other languages."""
        sample = make_sample(replace(key, language="en"))
        line, places = replay(sample), Places(sample)
        return cls(sample, line, thoughts(sample), places, Pointer(sample, line[0], places))

    @property
    def position(self) -> Any:
        return self.pointer.position

    @property
    def picture(self) -> Picture:
        return self.pointer.picture

    @property
    def thought(self) -> str:
        """What the step that led here says; before the first one, what is asked."""
        return self.thoughts[self.at - 1] if self.at else self.sample.instruction

    def told(self, action: Any) -> str:
        """An action's text, its cells called what the picture's labels call them."""
        text, labels = str(action), self.sample.style.labels
        for cell in named(action):
            text = re.sub(rf"(?<!\d){cell}(?!\d)", labels.name(cell, "en"), text)
        return text

    # The solution -----------------------------------------------------------------------------------------------------

    def next_step(self) -> Session:
        """One step further along the solution; moves tried by hand are given up."""
        if self.at == len(self.line) - 1 and not self.tried:
            return self._saying("This is the end of the solution.")
        return self._moved(min(self.at + 1, len(self.line) - 1), ())

    def previous_step(self) -> Session:
        """Back to where hand moves began, or one step back along the solution."""
        if self.tried:
            return self._moved(self.at, ())
        return self._moved(self.at - 1, ()) if self.at else self._saying("This is the beginning.")

    def reset(self) -> Session:
        return self._moved(0, ())

    def toggle_hint(self) -> Session:
        return replace(self, hint=not self.hint)

    # Moves by hand ----------------------------------------------------------------------------------------------------

    def click(self, cell: Cell) -> Session:
        """Point at one cell more, or let go of it; a move is made as soon as the cells leave no doubt which."""
        if cell in self.clicks:
            return replace(self, clicks=(), options=(), chosen=0, message="")
        for clicks in ((*self.clicks, cell), (cell,)):
            offer = self.pointer.offer(clicks)
            if offer.decided:
                return self.play(offer.actions[0])
            if offer.actions:
                return replace(self, clicks=clicks, options=offer.actions, chosen=0, message="")
        return replace(self, clicks=(), options=(), chosen=0, message="No legal move touches this cell.")

    def choose(self, by: int) -> Session:
        """The next or an earlier one of the offered moves; of all legal ones if nothing was clicked."""
        options = self.options or self.pointer.actions
        if not options:
            return self._saying("No move is legal here.")
        chosen = (self.chosen + by) % len(options) if self.options else min(by, 0) % len(options)
        return replace(self, options=options, chosen=chosen, message="")

    def play_chosen(self) -> Session:
        return self.play(self.options[self.chosen]) if self.options else self._saying("Click on a cell, or press Tab.")

    def play(self, action: Any) -> Session:
        """Make a legal move."""
        moved = self._moved(self.at, (*self.tried, Tried(self.told(action), self.pointer.after(action))))
        return moved._saying(f"Played: {self.told(action)}")

    def undo(self) -> Session:
        """Take back the last move made by hand."""
        if not self.tried:
            return self._saying("There is no move of yours to take back.")
        return self._moved(self.at, self.tried[:-1])

    def check(self) -> Session:
        """Ask the solver whether the position shown is a right answer."""
        check = self.sample.plugin.solver.check(self.sample.problem, self.position)
        verdict = "Right" if check.correct else "Not right"
        return self._saying(f"{verdict}: {self.sample.style.told(check.reason)}")

    # Other samples ----------------------------------------------------------------------------------------------------

    def other_index(self, by: int) -> Session:
        key = self.sample.key
        if key.index + by < 0:
            return self._saying("This is the first sample.")
        return self._restarted(replace(key, index=key.index + by))

    def other_level(self, level: int) -> Session:
        return self._restarted(replace(self.sample.key, level=level))

    def next_skin(self) -> Session:
        """The same moment in the next skin."""
        skins = tuple(self.sample.plugin.renderer.skins)
        skin = skins[(skins.index(self.sample.style.skin) + 1) % len(skins)]
        return self._restarted(replace(self.sample.key, skin=skin))._moved(self.at, self.tried)

    def _restarted(self, key: Key) -> Session:
        return replace(Session.start(key), hint=self.hint)

    def _moved(self, at: int, tried: tuple[Tried, ...]) -> Session:
        position = tried[-1].position if tried else self.line[at]
        pointer = Pointer(self.sample, position, self.places)
        return replace(self, pointer=pointer, at=at, tried=tried, clicks=(), options=(), chosen=0, message="")

    def _saying(self, message: str) -> Session:
        return replace(self, message=message)


def thoughts(sample: Sample) -> tuple[str, ...]:
    """The sentences of the sample's reasoning, one a step, in the words that its own stream picks."""
    plugin, language = sample.plugin, sample.key.language
    terms = plugin.renderer.terms(sample.style, language)
    rng = sample.key.stream("words")
    speaker = Speaker(plugin.words, language, labels=sample.style.labels, terms=terms, rng=rng)
    asked = plugin.solver.asked(sample.problem)
    speaker.say(sample.problem.kind, "effect", {**asked, **sample.solution.result})  # a sample says it first, too
    return tuple(speaker.say("steps", step.rule, step.facts) for step in sample.solution.steps)
