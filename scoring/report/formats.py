"""A table as CSV, JSON, LaTeX and Markdown.

CSV is long, a line for each model and column, with columns of their own for each measure; LaTeX and Markdown are wide,
as in print. JSON has everything.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import groupby

import orjson

from scoring.report.tables import Line, Number, Table

FIELDS = ("mean", "low", "high", "count", "coverage", "failures", "complete", "judge")
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "\n": " ",
}  # fmt: skip


def to_csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    measures = list(dict.fromkeys(line.measure for line in table.lines))
    prefixes = [f"{measure.replace(' ', '_').lower()}_" if measure else "" for measure in measures]
    writer.writerow(
        ["model", "source", "group", "column", *(prefix + field for prefix in prefixes for field in FIELDS)]
    )
    for (model, published), lines in _models(table).items():
        for key, column in table.columns.items():
            values = [_values(lines.get(measure), key) for measure in measures]
            if any(any(each) for each in values):
                source = "published" if published else "run"
                writer.writerow(
                    [model, source, column.group, column.title, *(value for each in values for value in each)]
                )
    return stream.getvalue()


def to_json(table: Table) -> str:
    data = {
        "title": table.title,
        "note": table.note,
        "columns": {key: asdict(column) for key, column in table.columns.items()},
        "lines": [asdict(line) for line in table.lines],
    }
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"


def to_markdown(table: Table) -> str:
    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")

    titles = ["Model", *(_full_title(table, key) for key in table.columns)]
    rows = [f"| {' | '.join(map(escape, titles))} |", f"| --- |{' ---: |' * len(table.columns)}"]
    for block, lines in groupby(table.lines, key=lambda line: line.block):
        if block:
            rows.append(f"| **{escape(block)}** |{' |' * len(table.columns)}")
        for line in lines:
            cells = [_text(line.cells.get(key)) for key in table.columns]
            rows.append(f"| {escape(line.model)} | {' | '.join(cells)} |")
    return f"**{table.title}**\n\n" + "\n".join(rows) + f"\n\n{escape(table.note)}\n"


def to_latex(table: Table) -> str:
    """A booktabs table, scaled to the line."""
    width = len(table.columns)
    caption = f"{latex(table.title)}. {latex(table.note)}".replace("†", r"$^{\dagger}$")
    rows = [
        _latex_groups(table),
        " & ".join(["", *(_upright(key, table) for key in table.columns)]) + r" \\",
        r"\midrule",
    ]
    for block, lines in groupby(table.lines, key=lambda line: line.block):
        if block:
            rows.append(rf"\multicolumn{{{width + 1}}}{{l}}{{\emph{{{latex(block)}}}}} \\")
        for line in lines:
            cells = [_latex_cell(line.cells.get(key)) for key in table.columns]
            rows.append(" & ".join([latex(line.model), *cells]) + r" \\")
    return "\n".join(
        [
            "% needs \\usepackage{booktabs,graphicx}",
            r"\begin{table*}",
            rf"\caption{{{caption}}}",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{l*{{{width}}}{{r}}}}",
            r"\toprule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table*}",
            "",
        ]
    )


FORMATS: Mapping[str, Callable[[Table], str]] = {"csv": to_csv, "json": to_json, "tex": to_latex, "md": to_markdown}


def latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _models(table: Table) -> dict[tuple[str, bool], dict[str, Line]]:
    found: dict[tuple[str, bool], dict[str, Line]] = {}
    for line in table.lines:
        found.setdefault((line.model, line.published), {})[line.measure] = line
    return found


def _values(line: Line | None, key: str) -> list[str]:
    number = line.cells.get(key) if line else None
    if line is None or number is None:
        return [""] * len(FIELDS)
    low, high = number.interval or ("", "")
    shares = [_plain(value) for value in (number.mean, low, high, number.count, number.coverage, number.failures)]
    return [*shares, "no" if number.partial else "yes", line.judge]


def _plain(value: float | str | None) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value)


def _full_title(table: Table, key: str) -> str:
    """A title that is clear without what stands above it."""
    column = table.columns[key]
    same = [other for other in table.columns.values() if other.title == column.title]
    return f"{column.title} ({column.group})" if len(same) > 1 else column.title


def _text(number: Number | None) -> str:
    if number is None:
        return "–"
    mark = "†" if number.partial else ""
    if number.interval is None:
        return f"{number.mean:.2f}{mark}"
    low, high = number.interval
    return f"{number.mean:.1f}{mark} [{low:.1f}, {high:.1f}]{_uncovered(number)}"


def _uncovered(number: Number) -> str:
    return f" ({number.failures} failed)" if number.failures else ""


def _latex_cell(number: Number | None) -> str:
    if number is None:
        return "--"
    mark = r"$^{\dagger}$" if number.partial else ""
    if number.interval is None:
        return f"{number.mean:.2f}{mark}"
    low, high = number.interval
    return rf"{number.mean:.1f}{mark} {{\scriptsize [{low:.1f}, {high:.1f}]{_uncovered(number)}}}"


def _latex_groups(table: Table) -> str:
    parts = [""]
    for group, columns in groupby(table.columns.values(), key=lambda column: column.group):
        parts.append(rf"\multicolumn{{{len(list(columns))}}}{{c}}{{{latex(group)}}}")
    return " & ".join(parts) + r" \\"


def _upright(key: str, table: Table) -> str:
    return rf"\rotatebox{{90}}{{{latex(table.columns[key].title)}}}"
