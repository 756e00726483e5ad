"""Tables of measured figures in Markdown pages: the command that measures writes them, between two marker comments.

A page holds `<!-- audit -->` and `<!-- /audit -->`, and whatever stands between them is replaced: figures in the text
are never typed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gamegen.core.errors import BadInput


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    width = [max(len(str(cell)) for cell in column) for column in zip(head, *rows, strict=True)]
    width = [max(3, size) for size in width]
    ruler = ["-" * width[0], *("-" * (size - 1) + ":" for size in width[1:])]
    lines = [_line(cells, width) for cells in (head, ruler, *rows)]
    return "\n".join(lines)


def fill(path: Path, name: str, text: str) -> None:
    """Put `text` between the markers `name` of a page; raises BadInput if it has not exactly one pair of them."""
    before, after = around(path, name)
    path.write_text(f"{before}{text.strip()}\n{after}", encoding="utf-8")


def around(path: Path, name: str) -> tuple[str, str]:
    """A page up to its first marker `name` and from its second one on; ask before measuring for hours."""
    if not path.is_file():
        raise BadInput(f"there is no page {path} to put the table into")
    page = path.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    if page.count(start) != 1 or rest.count(end) != 1:
        raise BadInput(f"{path} must have one line {start.strip()!r} and after it one {end!r}")
    return before + start, end + after


def _line(cells: Sequence[object], width: Sequence[int]) -> str:
    first, *others = (str(cell) for cell in cells)
    return "| " + " | ".join([first.ljust(width[0]), *map(str.rjust, others, width[1:])]) + " |"
