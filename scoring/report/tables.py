"""The paper's tables 2 and 5 with the user's runs in them, and a table of the runs alone.

Scores by a model and accuracy by the rules are different measures: each has lines of its own. Every mean of a run
carries its interval, its coverage and its failures; published means carry none, because the paper prints none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.errors import BadInput
from scoring.report.published import Published, paper
from scoring.report.runs import Record, Run
from scoring.summary import exact_numbers, vlm_numbers

SCORE, EXACT = "VLM score", "exact accuracy"
RULES = "the rules"


@dataclass(frozen=True, slots=True)
class Number:
    """A mean in percent; published ones have nothing else."""

    mean: float
    interval: tuple[float, float] | None = None
    count: int | None = None
    coverage: float | None = None
    failures: int | None = None
    lacking: tuple[str, ...] = ()  # categories of the paper that the mean does not contain

    @property
    def partial(self) -> bool:
        return bool(self.lacking)


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    group: str  # what stands above it
    categories: tuple[str, ...] = ()
    ours: bool = False  # a category that the paper does not have
    summary: bool = False  # an average over other columns


@dataclass(frozen=True, slots=True)
class Line:
    model: str
    block: str  # what stands above it
    published: bool
    measure: str
    judge: str
    cells: Mapping[str, Number]  # by the column's key


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    title: str
    note: str
    columns: Mapping[str, Column]
    lines: tuple[Line, ...]


def known_category(name: str) -> str:
    """The paper's spelling if it is one of its categories, or ours; else as it came."""
    try:
        return category(name)
    except BadInput:
        return name


def dimension_table(runs: Sequence[Run]) -> Table:
    """The paper's table 2."""
    columns: dict[str, Column] = {}
    for scenario, title in (("real", "Real world"), ("game", "Game world")):
        members = [name for name in paper().categories if CATEGORIES[name][0] == scenario]
        for dimension in paper().dimensions:
            own = tuple(name for name in members if CATEGORIES[name][1] == dimension)
            if own:
                columns[dimension] = Column(dimension, title, own)
        columns[scenario] = Column("Average", title, tuple(members), summary=True)
    columns["overall"] = Column("Overall", "", paper().categories, summary=True)
    return Table("table2", "By dimension", _note(columns), columns, _lines(runs, columns))


def category_table(runs: Sequence[Run]) -> Table:
    """The paper's table 5, and to its right the categories that only the runs have."""
    columns = {name: Column(name, CATEGORIES[name][1], (name,)) for name in paper().categories}
    others = {known_category(record["category"]) for run in runs for record in _records(run)}
    for name in sorted(others - set(columns)):
        columns[name] = Column(name, "Not in the paper", (name,), ours=True)
    columns["overall"] = Column("Overall", "", paper().categories, summary=True)
    return Table("table5", "By category", _note(columns), columns, _lines(runs, columns))


def run_table(runs: Sequence[Run]) -> Table:
    """Every measure of every run, over all its samples."""
    columns = {key: Column(title, group) for key, (title, group, _, _) in _MEASURES.items()}
    lines = []
    for run in runs:
        numbers = {"exact": _exact(run.exact.values()), "vlm": _vlm(run.vlm.values())}
        cells = {}
        for key, (_, _, path, scale) in _MEASURES.items():
            found = _number(_follow(numbers, path), scale)
            if found is not None:
                cells[key] = found
        lines.append(Line(run.label, "", False, "", _judge_name(run), cells))
    note = (
        "Over all samples, those of categories that the paper does not have included. A missing picture counts as "
        "wrong, or as the lowest score. A judge's failure is the lowest score in strict numbers and left out of "
        "lenient ones."
    )
    return Table("runs", "The runs", note, columns, tuple(lines))


def level_numbers(run: Run, levels: Mapping[str, int]) -> dict[int, Number]:
    """Exact accuracy by level; `levels` has the level of each output."""
    found = {}
    for level in sorted(set(levels.values())):
        records = [record for output, record in run.exact.items() if levels.get(output) == level]
        number = _number(_follow({"exact": _exact(records, f"level {level}")}, ("exact", "correct")), 100.0)
        if number is not None:
            found[level] = number
    return found


_MEASURES: dict[str, tuple[str, str, tuple[str, ...], float]] = {
    "correct": ("Correct", "By the rules, %", ("exact", "correct"), 100.0),
    "legal": ("Legal", "By the rules, %", ("exact", "legal"), 100.0),
    "readable": ("Readable", "By the rules, %", ("exact", "readable"), 100.0),
    "preserved": ("Preserved", "By the rules, %", ("exact", "preserved"), 100.0),
    "quality": ("Quality", "By the rules, %", ("exact", "quality"), 100.0),
    "strict": ("Score, strict", "By a seeing model, %", ("vlm", "strict", "percent"), 1.0),
    "lenient": ("Score, lenient", "By a seeing model, %", ("vlm", "lenient", "percent"), 1.0),
    "accuracy": ("Accuracy", "By a seeing model, %", ("vlm", "strict", "accuracy"), 100.0),
    "following": ("Following", "Its three scores, 1 to 5", ("vlm", "strict", "instruction_following"), 1.0),
    "consistency": ("Consistency", "Its three scores, 1 to 5", ("vlm", "strict", "visual_consistency"), 1.0),
    "look": ("Quality", "Its three scores, 1 to 5", ("vlm", "strict", "visual_quality"), 1.0),
}


def _lines(runs: Sequence[Run], columns: Mapping[str, Column]) -> tuple[Line, ...]:
    lines = [_published(model, columns) for model in paper().models]
    for run in runs:
        if run.vlm:
            cells = _cells(run.vlm.values(), columns, _vlm, ("strict", "percent"), 1.0)
            block = f"Your runs: {SCORE}, %, judged by {_judge_name(run)}"
            lines.append(Line(run.label, block, False, SCORE, _judge_name(run), cells))
    for run in runs:
        if run.exact:
            cells = _cells(run.exact.values(), columns, _exact, ("correct",), 100.0)
            block = f"Your runs: {EXACT}, %, judged by {RULES}"
            lines.append(Line(run.label, block, False, EXACT, RULES, cells))
    blocks = list(dict.fromkeys(line.block for line in lines))
    return tuple(sorted(lines, key=lambda line: blocks.index(line.block)))


def _published(model: Published, columns: Mapping[str, Column]) -> Line:
    printed = {**model.categories, **model.dimensions, **model.averages, "overall": model.overall}
    judge = paper().judge
    block = f"Published, {model.access}-source models: {SCORE}, %, judged by {judge}"
    cells = {key: Number(printed[key]) for key in columns if key in printed}
    return Line(model.name, block, True, SCORE, judge, cells)


def _cells(
    records: Iterable[Record],
    columns: Mapping[str, Column],
    summed_up: Callable[[Iterable[Record], str], Mapping[str, Any] | None],
    path: tuple[str, ...],
    scale: float,
) -> dict[str, Number]:
    by_category: dict[str, list[Record]] = {}
    for record in records:
        by_category.setdefault(known_category(record["category"]), []).append(record)
    cells = {}
    for key, column in columns.items():
        own = [record for name in column.categories for record in by_category.get(name, ())]
        lacking = tuple(name for name in column.categories if name not in by_category)
        found = _number(_follow(summed_up(own, key), path), scale, lacking)
        if found is not None:
            cells[key] = found
    return cells


def _exact(records: Iterable[Record], name: str = "all") -> Mapping[str, Any] | None:
    listed = list(records)
    return exact_numbers(listed, name) if listed else None


def _vlm(records: Iterable[Record], name: str = "all") -> Mapping[str, Any] | None:
    listed = list(records)
    return vlm_numbers(listed, name) if listed else None


def _follow(numbers: Mapping[str, Any] | None, path: Sequence[str]) -> Mapping[str, Any] | None:
    for name in path:
        numbers = None if numbers is None else numbers[name]
    return numbers


def _number(found: Mapping[str, Any] | None, scale: float, lacking: tuple[str, ...] = ()) -> Number | None:
    if found is None or found["mean"] is None:
        return None
    low, high = found["interval"]
    return Number(
        mean=scale * found["mean"],
        interval=(scale * low, scale * high),
        count=found["count"],
        coverage=found["coverage"],
        failures=found["failures"],
        lacking=lacking,
    )


def _records(run: Run) -> list[Record]:
    return [*run.exact.values(), *run.vlm.values()]


def _judge_name(run: Run) -> str:
    return str((run.judge or {}).get("model") or "a model") if run.vlm else ""


def _note(columns: Mapping[str, Column]) -> str:
    ours = [column.title for column in columns.values() if column.ours]
    extra = f" {', '.join(ours)}: not in the paper, and in none of the averages." if ours else ""
    return (
        f"Published rows as printed in {paper().source}, judged by {paper().judge}. A score by a model and the "
        "accuracy by the rules are different measures, and so are scores by different judges. In brackets the 95 % "
        "bootstrap interval, which shrinks to a point where all samples agree. † marks a mean over fewer categories "
        f"than the paper's.{extra}"
    )
