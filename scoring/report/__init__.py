"""Runs into a report: one page that needs no network, and tables as CSV, JSON, LaTeX and Markdown beside it.

Texts go into one JSON block and the pictures of each sample into a block of their own, as in the gallery: the script
makes elements of them only near the screen, so thousands of samples stay smooth.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from html import escape
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gamegen import gallery
from gamegen.core.errors import GamegenError
from gamegen.gallery import embeddable, filled
from gamegen.stored import StoredRow, read_dataset
from gamegen.writing.format import replacing
from scoring.exact import has_rules
from scoring.prompts import QUESTIONS
from scoring.report.formats import FORMATS
from scoring.report.pictures import sample_pictures
from scoring.report.runs import Run, check_verdicts
from scoring.report.samples import Entry, replies, sample_entry
from scoring.report.sections import Coverage, charts_html, run_card, style_of, table_html
from scoring.report.tables import category_table, dimension_table, level_numbers, run_table

FOLDER = Path(__file__).parent
SINGLE = 40
"""Up to this many samples are drawn in this process: starting others would take longer."""

AHEAD = 16
"""Samples that wait for each process."""


def write_report(
    runs: Sequence[Run],
    dataset: Path,
    out: Path,
    *,
    title: str,
    limit: int = 0,
    side: int = 512,
    jobs: int = 0,
    progress: Callable[[], object] = lambda: None,
) -> int:
    """Write page and tables into a folder; how many samples the page shows. Tables always count all of them."""
    entries, ids, with_rules = _entries(runs, dataset)
    for run in runs:
        check_verdicts(run, ids)
    shown = len(entries) if not limit else min(limit, len(entries))
    tables = {table.name: table for table in (run_table(runs), dimension_table(runs), category_table(runs))}
    levels = {entry["output"]: int(entry["level"]) for entry in entries if entry["level"]}
    by_level = {run.label: level_numbers(run, levels) for run in runs if run.exact}
    styles = {run.label: style_of(place) for place, run in enumerate(runs)}
    cards = (
        run_card(run, place, tables["runs"].lines[place], _coverage(run, place, entries, with_rules))
        for place, run in enumerate(runs)
    )
    values: dict[str, Iterable[str]] = {
        "TITLE": [escape(title)],
        "LEAD": [escape(_lead(runs, dataset, len(entries), shown))],
        "STYLE": _files(gallery.FOLDER / "page.css", FOLDER / "report.css"),
        "SCRIPT": _files(gallery.FOLDER / "elements.js", FOLDER / "samples.js", FOLDER / "moving.js"),
        "CARDS": cards,
        "RUNS": [table_html(tables["runs"], styles)],
        "CHARTS": [charts_html(styles, tables["table2"], tables["table5"], by_level)],
        "DIMENSIONS": [table_html(tables["table2"], styles)],
        "CATEGORIES": [table_html(tables["table5"], styles)],
        "DATA": [embeddable(_data(runs, entries[:shown]))],
        "PICTURES": _pictures(runs, dataset, shown, side, jobs, progress),
    }
    for table in tables.values():
        for ending, write in FORMATS.items():
            with replacing(out / "tables" / f"{table.name}.{ending}") as stream:
                stream.write(write(table).encode())
    with replacing(out / "index.html") as stream:
        for piece in filled((FOLDER / "page.html").read_text(encoding="utf-8"), values):
            stream.write(piece)
    return shown


def _entries(runs: Sequence[Run], dataset: Path) -> tuple[list[Entry], dict[str, str], int]:
    """Every sample's texts, the ids by output, and how many rows have rules to judge by."""
    entries, ids, with_rules = [], {}, 0
    for stored in read_dataset(dataset):
        entries.append(sample_entry(stored, list(runs)))
        ids[stored.output_name] = str(stored.row.get("id") or "")
        with_rules += has_rules(stored)
    return entries, ids, with_rules


def _coverage(run: Run, place: int, entries: Sequence[Entry], with_rules: int) -> Coverage:
    return Coverage(
        rows=len(entries),
        with_rules=with_rules,
        pictures=sum(entry["runs"][place]["here"] for entry in entries),
        judged=len(run.exact),
        scored=sum(not record["failure"] for record in run.vlm.values()),
        judge_failures=sum(bool(record["failure"]) for record in run.vlm.values()),
        stale=sum(entry["runs"][place]["stale"] for entry in entries),
    )


def _lead(runs: Sequence[Run], dataset: Path, rows: int, shown: int) -> str:
    counted = f"{rows:,} samples of {dataset.resolve().name}, {len(runs)} run{'s' if len(runs) > 1 else ''}"
    return counted + (f"; the gallery shows the first {shown:,}." if shown < rows else ".")


def _data(runs: Sequence[Run], entries: Sequence[Entry]) -> dict[str, Any]:
    told = [{"label": run.label, "style": style_of(place), "judged": bool(run.exact)} for place, run in enumerate(runs)]
    return {"runs": told, "questions": list(QUESTIONS), "samples": list(entries)}


def _pictures(
    runs: Sequence[Run], dataset: Path, shown: int, side: int, jobs: int, progress: Callable[[], object]
) -> Iterator[str]:
    work = ((stored, list(runs), side) for stored in islice(read_dataset(dataset), shown))
    for number, block in enumerate(_spread(work, shown, jobs)):
        yield f'<script type="application/json" id="p{number}">{block}</script>\n'
        progress()


def _spread(work: Iterator[tuple[StoredRow, list[Run], int]], shown: int, jobs: int) -> Iterator[str]:
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or shown <= SINGLE:
        yield from map(_block, work)
        return
    light = ((stored, [_light(run, stored) for run in runs], side) for stored, runs, side in work)
    flying: deque[Future[str]] = deque()
    try:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            for item in light:
                flying.append(pool.submit(_block, item))
                if len(flying) >= AHEAD * jobs:  # or all pictures would be held in memory
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
    except BrokenProcessPool as error:
        raise GamegenError("a process that draws samples died; run the command again, with fewer --jobs") from error


def _light(run: Run, stored: StoredRow) -> Run:
    """The run with what it says of one sample, which is all that need travel to another process."""
    name = stored.output_name
    return replace(
        run,
        exact={name: run.exact[name]} if name in run.exact else {},
        vlm={name: run.vlm[name]} if name in run.vlm else {},
        failures={},
    )


def _block(item: tuple[StoredRow, list[Run], int]) -> str:
    stored, runs, side = item
    shown = sample_pictures(stored, [(run.output(stored), run.exact.get(stored.output_name)) for run in runs], side)
    for run, told in zip(runs, shown["runs"], strict=True):
        told["replies"] = replies(run, stored)
    return embeddable(shown)


def _files(*paths: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in paths]
