"""Charts as SVG of our own: radar, bars and lines, with the interval of every mean that has one.

The colours of runs come from the page's style (classes `s0`, `s1`…), so that they follow light and dark; published
models have muted ones that serve in both. Every chart has a title for those who cannot see it, and every mark says its
number when pointed at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import cos, pi, sin

from scoring.report.tables import Number

Point = Callable[[int, float], tuple[float, float]]
Height = Callable[[float], float]

COLOURS = 8
"""How many runs have a colour of their own; later ones begin again."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model's numbers, by axis."""

    name: str
    style: str  # a class of the page's style; empty for a published model
    numbers: Mapping[str, Number]
    shown: bool = True  # at first; the legend switches
    hue: int = 0  # of a published model

    def look(self, kind: str) -> str:
        """Class and colour, as attributes of an element of this kind."""
        if self.style:
            return f'class="{kind} {self.style}"'
        return f'class="{kind} published" style="--own:hsl({self.hue} 38% 56%)"'


def radar(title: str, axes: Sequence[str], series: Sequence[Series]) -> str:
    """A line round the axes for each series, from 0 in the middle to 100; broken where a series has no number."""
    size, middle, radius = 480.0, 240.0, 165.0

    def point(axis: int, value: float) -> tuple[float, float]:
        angle = 2 * pi * axis / len(axes) - pi / 2
        return middle + radius * value / 100 * cos(angle), middle + radius * value / 100 * sin(angle)

    parts = [_rings(len(axes), point), *(_spoke(axis, name, point) for axis, name in enumerate(axes))]
    for each in series:
        parts.append(_wrap(each, _loop(each, axes, point) + _radar_marks(each, axes, point)))
    return _chart(title, size, size, parts) + _legend(series)


def bars(title: str, groups: Sequence[str], series: Sequence[Series]) -> str:
    """For each group a bar for each series, with its interval as a whisker."""
    thick, gap, left, wide, top = 13.0, 14.0, 175.0, 640.0, 22.0
    scale = (wide - left - 60) / 100
    parts = []
    y = top
    shown = [each for each in series if each.numbers]
    for group in groups:
        own = [each for each in shown if group in each.numbers]
        parts.append(_text(left - 10, y + thick * len(own) / 2 + 4, group, "end"))
        for each in own:
            parts.append(_wrap(each, _bar(each, group, left, y, thick, scale)))
            y += thick
        y += gap
    grid = [_tick(left + scale * mark, top - 6, y - gap + 4, str(mark)) for mark in (0, 25, 50, 75, 100)]
    return _chart(title, wide, y, [*grid, *parts]) + _legend(shown)


def lines(title: str, steps: Sequence[str], series: Sequence[Series]) -> str:
    """How each series goes over the steps, from 0 to 100, with intervals."""
    wide, high, left, top = 560.0, 320.0, 44.0, 20.0
    scale = (high - top - 50) / 100
    apart = (wide - left - 60) / max(1, len(steps) - 1)

    def spot(place: int, value: float) -> tuple[float, float]:
        return left + 30 + apart * place, top + scale * (100 - value)

    grid = [_level(left, wide - 10, spot(0, mark)[1], str(mark)) for mark in (0, 25, 50, 75, 100)]
    names = [_text(spot(place, 0)[0], spot(place, 0)[1] + 24, name, "middle") for place, name in enumerate(steps)]
    parts = []
    for number, each in enumerate(series):
        shift = 5.0 * (number - (len(series) - 1) / 2)  # intervals of runs that agree would cover each other
        marks = [(spot(place, 0)[0] + shift, step) for place, step in enumerate(steps) if step in each.numbers]
        path = _polyline((x, spot(0, each.numbers[step].mean)[1]) for x, step in marks)
        dots = "".join(_upright(each, step, x, lambda value: spot(0, value)[1]) for x, step in marks)
        parts.append(_wrap(each, path + dots))
    return _chart(title, wide, high, [*grid, *names, *parts]) + _legend(series)


def spoken(number: Number) -> str:
    """A number as a sentence would have it."""
    if number.interval is None:
        return f"{number.mean:.2f} %, published"
    low, high = number.interval
    lost = f", {number.failures} of them not covered" if number.failures else ""
    return f"{number.mean:.1f} %, 95 % interval {low:.1f} to {high:.1f}, {number.count} samples{lost}"


def _chart(title: str, wide: float, high: float, parts: Iterable[str]) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {wide:.0f} {high:.0f}" style="max-width:{wide:.0f}px">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _wrap(series: Series, inside: str) -> str:
    look = series.look("series" if series.shown else "series off")
    return f'<g {look} data-series="{escape(series.name)}">{inside}</g>'


def _legend(series: Sequence[Series]) -> str:
    keys = "".join(
        f'<button type="button" {each.look("key")} data-series="{escape(each.name)}" '
        f'aria-pressed="{"true" if each.shown else "false"}"><i></i>{escape(each.name)}</button>'
        for each in series
    )
    return f'<div class="legend">{keys}</div>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _said(name: str, where: str, number: Number) -> str:
    return f"<title>{escape(f'{name}, {where}: {spoken(number)}')}</title>"


def _polyline(points: Iterable[tuple[float, float]]) -> str:
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="line" points="{listed}"/>'


# Radar ----------------------------------------------------------------------------------------------------------------


def _rings(axes: int, point: Point) -> str:
    rings = []
    for mark in (25, 50, 75, 100):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(axis, mark) for axis in range(axes)))
        x, y = point(0, mark)
        rings.append(f'<polygon class="ring" points="{corners}"/>')
        if mark < 100:  # the outermost would stand in the axis' name
            rings.append(f'<text class="mark" x="{x + 4:.1f}" y="{y - 3:.1f}">{mark}</text>')
    return "".join(rings)


def _spoke(axis: int, name: str, point: Point) -> str:
    (x0, y0), (x1, y1), (x2, y2) = point(axis, 0), point(axis, 100), point(axis, 111)
    anchor = "middle" if abs(x2 - x0) < 8 else "start" if x2 > x0 else "end"
    words = name.split(" ")
    rows = [" ".join(words[:-1]), words[-1]] if len(words) > 1 else words
    first = y2 - 7 * (len(rows) - 1) + 4
    spans = "".join(
        f'<tspan x="{x2:.1f}" y="{first + 14 * number:.1f}">{escape(row)}</tspan>' for number, row in enumerate(rows)
    )
    return (
        f'<line class="ring" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'
        f'<text text-anchor="{anchor}">{spans}</text>'
    )


def _loop(series: Series, axes: Sequence[str], point: Point) -> str:
    """Closed where all axes have a number, else the sides between neighbours that have one."""
    spots = [
        point(axis, series.numbers[name].mean) if name in series.numbers else None for axis, name in enumerate(axes)
    ]
    present = [spot for spot in spots if spot is not None]
    if len(present) == len(axes):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in present)
        return f'<polygon class="area" points="{corners}"/>'
    sides = ((spots[axis - 1], spots[axis]) for axis in range(len(axes)))
    return "".join(_polyline((start, end)) for start, end in sides if start is not None and end is not None)


def _radar_marks(series: Series, axes: Sequence[str], point: Point) -> str:
    parts = []
    for axis, name in enumerate(axes):
        number = series.numbers.get(name)
        if number is None:
            continue
        x, y = point(axis, number.mean)
        if number.interval is not None:
            (x1, y1), (x2, y2) = (point(axis, bound) for bound in number.interval)
            parts.append(f'<line class="whisker" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
        parts.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.2">{_said(series.name, name, number)}</circle>'
        )
    return "".join(parts)


# Bars and lines -------------------------------------------------------------------------------------------------------


def _bar(series: Series, group: str, left: float, y: float, thick: float, scale: float) -> str:
    number = series.numbers[group]
    middle, end = y + thick / 2, left + scale * number.mean
    parts = [
        f'<rect class="bar-mark" x="{left:.1f}" y="{y + 1.5:.1f}" width="{max(1.5, end - left):.1f}" '
        f'height="{thick - 3:.1f}" rx="1.5">{_said(series.name, group, number)}</rect>'
    ]
    reach = end
    if number.interval is not None:
        low, high = (left + scale * bound for bound in number.interval)
        reach = max(reach, high)
        parts.append(
            f'<path class="whisker" d="M{low:.1f} {middle - 3:.1f}v6m0-3H{high:.1f}m0-3v6"/>'
            if high - low > 0.5
            else ""
        )
    figure = f"{number.mean:.1f}{'†' if number.partial else ''}"
    parts.append(f'<text class="mark" x="{reach + 5:.1f}" y="{middle + 3.5:.1f}">{figure}</text>')
    return "".join(parts)


def _tick(x: float, top: float, bottom: float, text: str) -> str:
    return (
        f'<line class="ring" x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>'
        f'<text class="mark" x="{x:.1f}" y="{top - 5:.1f}" text-anchor="middle">{text}</text>'
    )


def _level(left: float, right: float, y: float, text: str) -> str:
    return (
        f'<line class="ring" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        f'<text class="mark" x="{left - 6:.1f}" y="{y + 3.5:.1f}" text-anchor="end">{text}</text>'
    )


def _upright(series: Series, step: str, x: float, height: Height) -> str:
    number, whisker = series.numbers[step], ""
    if number.interval is not None:
        low, high = (height(bound) for bound in number.interval)
        whisker = f'<path class="whisker" d="M{x - 3:.1f} {low:.1f}h6m-3 0V{high:.1f}m-3 0h6"/>'
    dot = f'<circle class="dot" cx="{x:.1f}" cy="{height(number.mean):.1f}" r="3.4">'
    return f"{whisker}{dot}{_said(series.name, step, number)}</circle>"
