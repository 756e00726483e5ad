"""How long comparing triples with each other takes, if none repeats another: `python -m benchmarks.dedup [COUNT]`."""

from __future__ import annotations

import resource
import sys
import time

from gamegen.core.stream import Stream
from realworld.dedup import repeats
from realworld.ngrams import NGrams
from realworld.run import Triple

WORDS = 8000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    stream = Stream("dedup benchmark")
    words = ["".join(stream.choice(LETTERS) for _ in range(3 + number % 7)) for number in range(WORDS)]

    def text(length: int) -> str:
        """Some words are common and most are rare."""
        return " ".join(words[int(WORDS * stream.random() ** 2)] for _ in range(length))

    triples = [Triple(str(number), "Pose Adjustment", text(30), text(11), "") for number in range(count)]
    started = time.perf_counter()
    dropped = sum(repeat is not None for repeat in repeats(triples, NGrams(), 0.7))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{count:,} triples, {dropped} dropped: {seconds:.0f} s, {peak:.1f} GB at most")


if __name__ == "__main__":
    main()
