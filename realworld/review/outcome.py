"""What several people together decided: a majority for each stage, and the texts that most of them left.

With N votes asked for, an item is decided when N people have voted and they are not split evenly; a tie asks for one
more person, until somebody tips it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from realworld.review.ballot import FIELDS, Verdict, Vote


def verdict(votes: Sequence[Vote], asked: int) -> Verdict | None:
    """The majority of the votes of one item in one stage; None if it is still open."""
    keeps = sum(vote.ballot.verdict == "keep" for vote in votes)
    drops = len(votes) - keeps
    if len(votes) < asked or keeps == drops:
        return None
    return "keep" if keeps > drops else "drop"


def reasons(votes: Sequence[Vote]) -> tuple[str, ...]:
    """Why it was dropped, the most frequent reason first; of equals, the one that was given first."""
    return tuple(name for name, _ in Counter(name for vote in votes for name in vote.ballot.reasons).most_common())


def corrections(votes: Sequence[Vote]) -> Mapping[str, Vote]:
    """For each text that was corrected, the vote whose wording stands.

    That is the wording most of those who kept the sample left, the original wording included; of equals, the latest.
    """
    keeping = sorted((vote for vote in votes if vote.ballot.verdict == "keep"), key=lambda vote: vote.number)
    found: dict[str, Vote] = {}
    for name in FIELDS:
        wordings = Counter(vote.ballot.texts.get(name) for vote in keeping)
        most = max(wordings.values(), default=0)
        standing = next((vote for vote in reversed(keeping) if wordings[vote.ballot.texts.get(name)] == most), None)
        if standing is not None and name in standing.ballot.texts:
            found[name] = standing
    return found
