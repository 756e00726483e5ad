"""The parts of the page that are there before any script runs: cards of the runs, tables, charts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

from scoring.report.charts import COLOURS, Series, bars, lines, radar, spoken
from scoring.report.formats import FORMATS
from scoring.report.published import paper
from scoring.report.runs import Run
from scoring.report.tables import EXACT, SCORE, Line, Number, Table

KINDS = {"csv": "text/csv", "json": "application/json", "tex": "application/x-tex", "md": "text/markdown"}
TITLES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "md": "Markdown"}
HUE_STEP = 100
"""Degrees between the hues of two published models; eighteen pass before one comes again."""

SHOWN_AT_FIRST = ("UniREdit-Bagel", "GPT-4o", "Qwen-Image-Edit")
"""Published models that the radar shows before anyone asks for others: the best of each kind, and the paper's own."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the dataset a run has answered, and how much of that was judged."""

    rows: int
    with_rules: int
    pictures: int
    judged: int  # by the rules
    scored: int  # by a model
    judge_failures: int
    stale: int  # pictures that came or went since they were judged


def style_of(place: int) -> str:
    return f"s{place % COLOURS}"


def run_card(run: Run, place: int, numbers: Line, coverage: Coverage) -> str:
    big = [_big("Correct, by the rules", numbers.cells.get("correct"))] if run.exact else []
    if run.vlm:
        judge = escape(str((run.judge or {}).get("model") or "a model"))
        big.append(_big(f"Score, by {judge}", numbers.cells.get("strict")))
    if not big:
        big.append('<p class="warn">Not judged yet: run gamegen score.</p>')
    options = ", ".join(f"{name} {value}" for name, value in sorted(run.options.items()))
    told = "".join(f"<li{' class=warn' if warn else ''}>{escape(text)}</li>" for text, warn in _covered(run, coverage))
    about = escape(f"{run.editor}{f' ({options})' if options else ''}")
    return (
        f'<article class="run {style_of(place)}"><h3><i></i>{escape(run.label)}</h3>'
        f'<div class="bigs">{"".join(big)}</div><p class="about">{about}</p><ul>{told}</ul></article>'
    )


def table_html(table: Table, styles: Mapping[str, str]) -> str:
    """With its files to save: the page has them in it. `styles` has the class of each run."""
    width = len(table.columns) + 1
    rows = []
    best = _best(table)
    for block, members in groupby(table.lines, key=lambda line: line.block):
        if block:
            rows.append(
                f'<tr class="block"><th colspan="{width}" scope="rowgroup"><span>{escape(block)}</span></th></tr>'
            )
        rows += [_row(table, line, best, styles) for line in members]
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}, table">'
        f'<table><caption class="hidden">{escape(table.title)}</caption><thead>{_heads(table)}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="note">{escape(table.note)}</p>{_downloads(table)}'
    )


def charts_html(
    styles: Mapping[str, str], dimensions: Table, categories: Table, levels: Mapping[str, Mapping[int, Number]]
) -> str:
    """The radars first, then the categories, then the levels; `styles` has the class of each run."""
    axes = [key for key, column in dimensions.columns.items() if not column.summary]
    parts = []
    for measure, title in ((EXACT, f"{EXACT}, %, by dimension"), (SCORE, f"{SCORE}, %, by dimension")):
        series = _series(dimensions, measure, styles)
        own = [axis for axis in axes if any(axis in each.numbers for each in series)]
        if len(own) >= 3:
            parts.append(_figure(title, _explained(measure), radar(title, own, series)))
    for measure in (EXACT, SCORE):
        series = [each for each in _series(categories, measure, styles) if each.name in styles]
        groups = [key for key, column in categories.columns.items() if not column.summary]
        groups = [key for key in groups if any(key in each.numbers for each in series)]
        if groups:
            title = f"{measure}, %, by category"
            parts.append(_figure(title, "Whiskers are 95 % bootstrap intervals.", bars(title, groups, series)))
    steps = sorted({level for found in levels.values() for level in found})
    if len(steps) > 1:
        series = [
            Series(name, styles[name], {f"level {level}": number for level, number in found.items()})
            for name, found in levels.items()
            if found
        ]
        title = f"{EXACT}, %, by level"
        parts.append(_figure(title, "From easy to hard.", lines(title, [f"level {level}" for level in steps], series)))
    return "".join(parts)


def _covered(run: Run, coverage: Coverage) -> list[tuple[str, bool]]:
    told = [(f"{coverage.pictures} of {coverage.rows} pictures", coverage.pictures < coverage.rows)]
    if run.failures:
        told.append((f"{len(run.failures)} edits failed", True))
    if run.exact:
        told.append(
            (f"{coverage.judged} of {coverage.with_rules} judged by the rules", coverage.judged < coverage.with_rules)
        )
    if run.vlm:
        told.append((f"{coverage.scored} of {coverage.rows} scored by the model", coverage.scored < coverage.rows))
    if coverage.judge_failures:
        told.append((f"{coverage.judge_failures} failures of the judge", True))
    if coverage.stale:
        told.append((f"{coverage.stale} pictures came or went since they were judged; score again", True))
    return told


def _big(title: str, number: Number | None) -> str:
    if number is None or number.interval is None:
        return f'<div class="big"><b>–</b><span>{title}</span></div>'
    low, high = number.interval
    return (
        f'<div class="big" title="{escape(spoken(number))}"><b>{number.mean:.1f}<small> %</small></b>'
        f"<em>{low:.1f} to {high:.1f}</em><span>{title}</span>"
        f'<div class="range" aria-hidden="true"><s style="left:{low:.1f}%;right:{100 - high:.1f}%"></s>'
        f'<u style="left:{number.mean:.1f}%"></u></div></div>'
    )


def _heads(table: Table) -> str:
    groups = "".join(
        f'<th colspan="{len(list(members))}" scope="colgroup">{escape(group)}</th>'
        for group, members in groupby(table.columns.values(), key=lambda column: column.group)
    )
    titles = "".join(
        f'<th scope="col"{" class=sum" if column.summary else ""}>{escape(column.title)}</th>'
        for column in table.columns.values()
    )
    return f'<tr class="groups"><td></td>{groups}</tr><tr><th scope="col">Model</th>{titles}</tr>'


def _row(table: Table, line: Line, best: Mapping[tuple[str, str], float], styles: Mapping[str, str]) -> str:
    cells = []
    for key, column in table.columns.items():
        number = line.cells.get(key)
        is_best = number is not None and best.get((line.block, key)) == round(number.mean, 2)
        cells.append(_cell(number, summary=column.summary, best=is_best))
    kind, key = ("published", "") if line.published else (f"own {styles[line.model]}", "<i></i>")
    return f'<tr class="{kind}"><th scope="row">{key}{escape(line.model)}</th>{"".join(cells)}</tr>'


def _cell(number: Number | None, *, summary: bool, best: bool) -> str:
    names = " ".join(name for name, on in (("sum", summary), ("best", best)) if on)
    classes = f' class="{names}"' if names else ""
    if number is None:
        return f'<td{classes}><span class="nothing">–</span></td>'
    mark = f'<sup title="without {escape(", ".join(number.lacking))}">†</sup>' if number.partial else ""
    if number.interval is None:
        return f"<td{classes}>{number.mean:.2f}{mark}</td>"
    low, high = number.interval
    lost = f'<small class="warn">{number.failures} not covered</small>' if number.failures else ""
    return (
        f'<td{classes} title="{escape(spoken(number))}">{number.mean:.1f}{mark}'
        f"<small>[{low:.1f}, {high:.1f}]</small>{lost}</td>"
    )


def _best(table: Table) -> dict[tuple[str, str], float]:
    """The highest mean of each column within each block of several lines: only there are numbers comparable."""
    found: dict[tuple[str, str], float] = {}
    for block, members in groupby(table.lines, key=lambda line: line.block):
        listed = list(members)
        for key in table.columns:
            means = [round(line.cells[key].mean, 2) for line in listed if key in line.cells]
            if block and len(means) > 1 and min(means) < max(means):
                found[block, key] = max(means)
    return found


def _downloads(table: Table) -> str:
    links = []
    for name, write in FORMATS.items():
        data = b64encode(write(table).encode()).decode()
        links.append(f'<a download="{table.name}.{name}" href="data:{KINDS[name]};base64,{data}">{TITLES[name]}</a>')
    return f'<p class="save">Save as {" ".join(links)}</p>'


def _series(table: Table, measure: str, styles: Mapping[str, str]) -> list[Series]:
    lines = [line for line in table.lines if line.measure == measure]
    own = [Series(line.model, styles[line.model], line.cells) for line in lines if not line.published]
    printed = [line for line in lines if line.published]
    return own + [
        Series(line.model, "", line.cells, shown=line.model in SHOWN_AT_FIRST, hue=place * HUE_STEP % 360)
        for place, line in enumerate(printed)
    ]


def _explained(measure: str) -> str:
    if measure == EXACT:
        return (
            "Outputs read back from their pixels and judged by the rules. Game world only: photographs have no rules."
        )
    return f"Thin lines are published models, judged by {paper().judge}; press a name to show or hide it."


def _figure(title: str, note: str, inside: str) -> str:
    return (
        f'<figure class="plot"><h3>{escape(title[:1].upper() + title[1:])}</h3><p>{escape(note)}</p>{inside}</figure>'
    )
