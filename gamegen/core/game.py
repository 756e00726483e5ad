"""What a game is: positions, actions, and the tasks that can be asked. No pixels, no search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from gamegen.core.cell import Cell
from gamegen.core.problem import P, Problem
from gamegen.core.stream import Stream

A = TypeVar("A")
"""A game's action: frozen, hashable, and `parse_action(str(a)) == a`."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that can be asked in a game; `game/kind` names it."""

    kind: str
    summary: str
    unique: bool = False  # exactly one result is right, and generation proves it


class Game(ABC, Generic[P, A]):
    name: str
    title: str
    dimension: str  # one of the paper's eight, see categories.py
    category: str  # one of the paper's eighteen
    tasks: tuple[Task, ...]
    finite: bool = False  # so few positions that both splits are enumerated: see Solver.universe

    @abstractmethod
    def parse(self, text: str) -> P:
        """The inverse of `str(position)`; raises BadInput on anything else."""

    @abstractmethod
    def parse_action(self, text: str) -> A:
        """The inverse of `str(action)`; raises BadInput on anything else."""

    @abstractmethod
    def actions(self, position: P) -> Iterator[A]:
        """Every legal action, in a stated order."""

    @abstractmethod
    def apply(self, position: P, action: A) -> P:
        """The position after the action; raises IllegalAction with the reason if the rules forbid it."""

    @abstractmethod
    def canonical(self, position: P) -> str:
        """One text for all positions that are the same up to the game's symmetries and relabellings."""

    @abstractmethod
    def faults(self, position: P) -> list[str]:
        """What is wrong with a position that no play could reach; empty for a sound one."""

    @abstractmethod
    def may_change(self, problem: Problem[P]) -> frozenset[Cell]:
        """The cells that some answer, right or wrong but by the rules, could change; the rest must stay."""

    @abstractmethod
    def mutate(self, position: P, rng: Stream) -> P:
        """A position that differs in one cell (or one drawn thing): what a careless editor would make of it."""

    def task(self, kind: str) -> Task:
        return next(task for task in self.tasks if task.kind == kind)
