"""The heights of both views, listed from 1 on; or the cube that is added or taken away, with its place (x, y)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.games.reconstruction import silhouette
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Told

_VIEW = re.compile(r"(?P<front>\bfront\b|前视|正视|正面)|(?P<side>\bside\b|侧视|左视|右视|侧面)", re.IGNORECASE)
_LIST = r"(?<![\d=])\d(?:\s*(?:,|，|、|;|\s|and|和)+\s*\d){%d}(?!\d)"
_XY = re.compile(r"\(\s*x\s*,\s*y(?:\s*,\s*z)?\s*\)\s*=\s*\((\d)\s*,\s*(\d)|\(\s*(\d)\s*,\s*(\d)\s*(?:,\s*\d\s*)?\)"
                 r"|x\s*=\s*(\d)\s*[,，、]?\s*(?:and\s+)?y\s*=\s*(\d)")  # fmt: skip
_ADD, _REMOVE = (
    re.compile(r"\badd|new cube|添加|加上|放", re.I),
    re.compile(r"remov|tak(?:e|ing)|delet|移除|移走|去掉|拿", re.I),
)


def tellings(told: Told) -> Iterator[Telling]:
    if told.problem.kind == "project":
        yield from _views(told)
    else:
        yield from _cube(told)


def _views(told: Told) -> Iterator[Telling]:
    """The last list of heights behind the name of each view."""
    position = told.problem.position
    n = position.size
    names = list(_VIEW.finditer(told.text))
    seen: dict[str, list[int]] = {}
    ends = [match.start() for match in names[1:]] + [len(told.text)] * bool(names)
    for name, until in zip(names, ends, strict=True):
        listed = re.search(_LIST % (n - 1), told.text[name.end() : until])
        if listed:
            seen["front" if name["front"] else "side"] = [int(digit) for digit in re.findall(r"\d", listed[0])]
    if len(seen) == 2 and all(max(heights) <= n for heights in seen.values()):
        for view, heights in seen.items():
            position = position.with_view(view, silhouette(heights, n))
        yield Telling(position=position)


def _cube(told: Told) -> Iterator[Telling]:
    for match in reversed(list(_XY.finditer(told.text))):
        x, y = [int(group) for group in match.groups() if group]
        add, remove = _ADD.search(told.text), _REMOVE.search(told.text)
        if add or remove:
            order = "add" if add and not remove else "remove" if remove and not add else told.problem.text("order")
            yield Telling((f"{order} {x},{y}", f"front {y}", f"side {x}"))
            return
