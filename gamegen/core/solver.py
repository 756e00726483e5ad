"""What a solver is: it makes problems, answers them with reasons, and says whether another answer is right too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic

from gamegen.core.problem import Check, Fact, P, Problem, Solution, Step
from gamegen.core.stream import Stream


class Solver(ABC, Generic[P]):
    @abstractmethod
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[P]:
        """A problem of this level, or Rejected with a reason: the caller draws again from a new stream."""

    @abstractmethod
    def solve(self, problem: Problem[P]) -> Solution[P]:
        """The right answer and why. The actions of its steps, played in order, lead to `after`."""

    @abstractmethod
    def check(self, problem: Problem[P], position: P) -> Check:
        """What the rules say of any result, however it came about. Accepts every right answer, not only `solve`'s."""

    @abstractmethod
    def confirm(self, problem: Problem[P], position: P, step: Step) -> bool:
        """Whether the step's claim is true in the position it is made in: worked out anew, from the facts alone."""

    def asked(self, problem: Problem[P]) -> Mapping[str, Fact]:
        """Facts for the sentences of the instruction and the rules: the problem's parameters, unless overridden."""
        return dict(problem.params)

    def universe(self, kind: str, level: int) -> Sequence[Problem[P]] | None:
        """All problems there are, for games so small that they are enumerated instead of drawn."""
        return None
