"""Runs from disk: what an editor made, what the judges said of it, and whether all of it belongs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from edit_models.editors.outputs import ABOUT, FAILURES, dataset_id
from gamegen.core.errors import BadInput
from gamegen.stored import StoredRow
from scoring.exact import MEASURES
from scoring.summary import sample_measures

Record = dict[str, Any]
NEEDED = {
    "exact": (*MEASURES, "reason"),
    "vlm": ("passes", "model_failure", "failure"),
}


@dataclass(frozen=True, slots=True)
class Run:
    """One folder of outputs. Verdicts are kept by the output they judge, as `Maze/3`."""

    label: str
    folder: Path
    editor: str
    options: Mapping[str, Any]
    dataset: str
    found_at: Path | None  # where the dataset lay when the outputs were made
    judge: Mapping[str, Any] | None  # the seeing model
    exact: Mapping[str, Record]
    vlm: Mapping[str, Record]
    failures: Mapping[str, str]  # why the editor gave no picture

    def output(self, stored: StoredRow) -> Path | None:
        return stored.output(self.folder)


def load_runs(names: Sequence[str]) -> list[Run]:
    """Runs given as `FOLDER` or `LABEL=FOLDER`; labels are made distinct by the folders' names."""
    runs = [_load(name) for name in names]
    counts = Counter(run.label for run in runs)
    runs = [replace(run, label=f"{run.label} ({run.folder.name})") if counts[run.label] > 1 else run for run in runs]
    twice = [label for label, count in Counter(run.label for run in runs).items() if count > 1]
    if twice:
        raise BadInput(f"two runs are called {twice[0]!r}; name them, as in  first=FOLDER second=FOLDER")
    others = [run for run in runs if run.dataset != runs[0].dataset]
    if others:
        first, other = runs[0].folder, others[0].folder
        raise BadInput(f"{first} and {other} are outputs of different datasets; their means do not belong in one table")
    return runs


def find_dataset(runs: Sequence[Run], given: Path | None) -> Path:
    """The dataset of the runs: where the option says, else where it lay when they were made."""
    wanted = runs[0].dataset
    if given is not None:
        if not given.is_dir():
            raise BadInput(f"no such dataset folder: {given}")
        if dataset_id(given) != wanted:
            raise BadInput(f"{runs[0].folder} was made from another dataset than {given}")
        return given
    places = [run.found_at for run in runs if run.found_at and run.found_at.is_dir()]
    for place in places:
        if dataset_id(place) == wanted:
            return place
    tried = f"; {places[0]} holds another one now" if places else ""
    raise BadInput(f"the dataset of {runs[0].folder} is not where it was{tried}; name its folder with --dataset")


def check_verdicts(run: Run, ids: Mapping[str, str]) -> None:
    """Every verdict must speak of a row of this dataset; `ids` has the rows' ids by output."""
    for kind, records in (("exact", run.exact), ("vlm", run.vlm)):
        for output, record in records.items():
            if ids.get(output) != str(record.get("id") or ""):
                path = run.folder / "scores" / f"{kind}.jsonl"
                what = f"{record.get('id')!r} as {output!r}, which is no row of this dataset"
                raise BadInput(f"{path} judges {what}; run gamegen score again")


def _load(name: str) -> Run:
    label, folder = _named(name)
    about = _object(folder / ABOUT, f"{folder} has no {ABOUT}; expected a folder that `gamegen edit` wrote")
    try:
        dataset, editor, options = str(about["dataset"]), str(about["editor"]), dict(about.get("options") or {})
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{folder / ABOUT} is damaged: {error!r}") from error
    scores = folder / "scores"
    summary = _object(scores / "summary.json") if (scores / "summary.json").exists() else {}
    if summary.get("dataset", dataset) != dataset:
        raise BadInput(f"{scores} holds scores of another dataset than {folder / ABOUT} names; run gamegen score again")
    place = about.get("folder")
    return Run(
        label=label or editor,
        folder=folder,
        editor=editor,
        options=options,
        dataset=dataset,
        found_at=(folder / place).resolve() if isinstance(place, str) else None,
        judge=summary.get("judge"),
        exact=_verdicts(scores, "exact"),
        vlm=_verdicts(scores, "vlm"),
        failures={str(line.get("output")): str(line.get("reason")) for line in _lines(folder / FAILURES)},
    )


def _named(name: str) -> tuple[str, Path]:
    label, equals, place = name.partition("=")
    if Path(name).is_dir() or not equals:
        label, place = "", name
    folder = Path(place)
    if not folder.is_dir():
        raise BadInput(f"no such outputs folder: {folder}")
    return label.strip(), folder


def _verdicts(scores: Path, kind: str) -> dict[str, Record]:
    path = scores / f"{kind}.jsonl"
    found: dict[str, Record] = {}
    for number, line in enumerate(_lines(path), 1):
        missing = [name for name in ("id", "category", "output", "found", *NEEDED[kind]) if name not in line]
        if missing:
            raise BadInput(f"{path}, line {number} has no {missing[0]!r}; run gamegen score again")
        try:
            _measure(line, kind)
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path}, line {number} holds no verdict: {error!r}; run gamegen score again") from error
        found[str(line["output"])] = line
    if kind == "vlm" and len({len(line["passes"]) for line in found.values()}) > 1:
        raise BadInput(f"{path} has samples that were judged more often than others; run gamegen score again")
    return found


def _measure(line: Record, kind: str) -> object:
    """What the tables will count, to find now that it is there."""
    if kind == "vlm":
        return sample_measures(line["passes"], strict=True)
    return [float(line[name]) for name in MEASURES]


def _lines(path: Path) -> Iterable[Record]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        yield _parsed(line, f"{path}, line {number}")


def _object(path: Path, missing: str = "") -> Record:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(missing or f"cannot read {path}: {error}") from error
    return _parsed(data, str(path))


def _parsed(data: bytes, where: str) -> Record:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{where} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{where} is damaged: expected an object, not {str(value)[:40]!r}")
    return value
