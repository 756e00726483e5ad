"""Two-stage inspection by people, in a browser: first a quick sorting out, then a careful correction of the texts.

`serve` opens it, `decisions` is what came of it, `write_decisions` puts that into a file.
"""

from __future__ import annotations

from realworld.review.decisions import Correction, Decision, decisions

__all__ = ["Correction", "Decision", "decisions"]
