"""`gamegen report`: the published numbers, the tables, the page, and what it says of runs that are not whole."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gamegen.__main__ import main
from gamegen.core.categories import CATEGORIES
from gamegen.stored import read_dataset
from scoring.report.formats import latex, to_csv, to_latex, to_markdown
from scoring.report.pictures import AMPLIFIED, difference, sample_pictures
from scoring.report.published import paper
from scoring.report.runs import load_runs
from scoring.report.tables import EXACT, SCORE, Column, Line, Number, Table, category_table, dimension_table

from .conftest import ROWS

EVIL = "</script><script>alert(1)</script><!--<script><img src=x onerror=alert(1)> \u2028 & \" '"
QUESTIONS = ("instruction_following", "visual_consistency", "visual_quality")


# What the paper printed -----------------------------------------------------------------------------------------------


def test_published_numbers_are_those_of_the_paper() -> None:
    models = {model.name: model for model in paper().models}
    assert len(models) == 14 and [model.access for model in paper().models] == ["closed"] * 5 + ["open"] * 9
    assert models["GPT-4o"].categories["Maze"] == 83.73 and models["GPT-4o"].overall == 73.39
    assert (
        models["Omnigen2"].categories["Jewel2"] == 1.38
        and models["Seedream4.0"].dimensions["Spatial Intelligence"] == 38.87
    )
    assert models["UniREdit-Bagel"].categories["Sudoku"] == 93.20 and models["UniREdit-Bagel"].averages["game"] == 80.48
    assert models["Qwen-Image-Edit"].categories["Viewpoint Transformation"] == 74.60
    assert set(paper().categories) == set(CATEGORIES) - {"Chess"}


def test_published_dimensions_are_the_means_of_published_categories() -> None:
    """A slip of the pen in either table would show."""
    for model in paper().models:
        groups = {name: [c for c in paper().categories if CATEGORIES[c][1] == name] for name in paper().dimensions}
        groups |= {kind: [c for c in paper().categories if CATEGORIES[c][0] == kind] for kind in ("real", "game")}
        for name, members in groups.items():
            mean = sum(model.categories[member] for member in members) / len(members)
            printed = {**model.dimensions, **model.averages}[name]
            if (model.name, name) == ("Wan2.5", "game"):
                assert (printed, round(mean, 2)) == (52.67, 53.33), "as printed"
            else:
                assert printed == pytest.approx(mean, abs=0.011), (model.name, name)
        assert model.overall == pytest.approx(sum(model.categories.values()) / 18, abs=1.86)


# Tables ---------------------------------------------------------------------------------------------------------------


def small_table(model: str) -> Table:
    cells = {"a": Number(61.0, (50.25, 70.0), 12, 0.75, 3, lacking=("Maze",))}
    lines = (
        Line("Paper", "Published", True, SCORE, "GPT-4.1", {"a": Number(45.67)}),
        Line(model, "Own", False, SCORE, "some judge", cells),
        Line(model, "Own, exact", False, EXACT, "the rules", {"a": Number(0.0, (0.0, 0.0), 12, 1.0, 0)}),
    )
    return Table("small", "A & B", "100 % † note", {"a": Column("50 % done", "x_y"), "b": Column("none", "")}, lines)


@pytest.mark.parametrize("name", ['a,"b"\nc', "=1+1 & 50 % of $x_1^2$ {~#}\\", "pipe | <b>", "模型"])
def test_names_survive_every_format(name: str) -> None:
    table = small_table(name)
    read = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [row["model"] for row in read] == ["Paper", name]
    own = read[1]
    assert (own["vlm_score_mean"], own["vlm_score_low"], own["vlm_score_failures"]) == ("61.00", "50.25", "3")
    assert (own["exact_accuracy_mean"], own["exact_accuracy_judge"]) == ("0.00", "the rules")
    assert (
        own["vlm_score_complete"] == "no" and read[0]["exact_accuracy_mean"] == "" and read[0]["source"] == "published"
    )
    marked = to_markdown(table)
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in marked.splitlines() if line.startswith("|")}
    assert widths == {4} and "61.0† [50.2, 70.0] (3 failed)" in marked and "<b>" not in marked
    tex = to_latex(table)
    assert latex(name) in tex and tex.count("{") - tex.count(r"\{") == tex.count("}") - tex.count(r"\}")
    assert "50\\% done".replace("\\%", r" \%") in tex and r"$^{\dagger}$" in tex and "†" not in tex


def test_latex_escapes_every_special_letter() -> None:
    assert latex("a_b%c&d#e$f{g}~^\\") == (r"a\_b\%c\&d\#e\$f\{g\}\textasciitilde{}\textasciicircum{}\textbackslash{}")


# From end to end ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Yardsticks, edited and judged, in a folder."""
    folder = tmp_path_factory.mktemp("runs")
    for editor in ("oracle", "copy", "wrong"):
        assert main(["edit", str(dataset), "--editor", editor, "--out", str(folder / editor)]) == 0
        assert main(["score", str(dataset), str(folder / editor), "--jobs", "1"]) == 0
    return folder


@pytest.fixture
def runs(judged: Path, dataset: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil, as far from its dataset as the runs were."""
    place = tmp_path / "runs"
    shutil.copytree(judged, place)
    for about in place.glob("*/edit.json"):
        told = json.loads(about.read_text())
        about.write_text(json.dumps(told | {"folder": str(dataset)}))
    return place


def report(out: Path, *arguments: Any, expect: int = 0) -> Path:
    assert main(["report", *map(str, arguments), "--out", str(out), "--jobs", "1"]) == expect
    return out / "index.html"


class Page(HTMLParser):
    """Scripts by id, what they do not hold, and every address that an element names."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.body = ""
        self._script: str | None = None
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        self.tags.append(tag)
        self.ids += [known["id"]] if "id" in known else []
        self.addresses += [known[name] for name in ("src", "href", "action", "data", "poster") if name in known]
        if tag == "script":
            self._script = known.get("id", "code")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.body += data
        else:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    @property
    def samples(self) -> list[dict[str, Any]]:
        return list(json.loads(self.scripts["data"])["samples"])

    def pictures(self, number: int) -> dict[str, Any]:
        return dict(json.loads(self.scripts[f"p{number}"]))


def pixels(source: str) -> Any:
    data = base64.b64decode(source.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def test_the_page_shows_every_sample_of_every_run(runs: Path, dataset: Path, tmp_path: Path) -> None:
    page = Page(report(tmp_path / "report", *(runs / name for name in ("oracle", "copy", "wrong"))))
    assert [sample["output"] for sample in page.samples] == [row.output_name for row in read_dataset(dataset)]
    for number, (sample, stored) in enumerate(zip(page.samples, read_dataset(dataset), strict=True)):
        assert [told["word"] == "correct" for told in sample["runs"]] == [True, False, False]
        assert sample["runs"][0]["thinking"] == stored.row["reasoning"].strip() and not sample["runs"][1]["thinking"]
        shown = page.pictures(number)
        oracle, copy, wrong = shown["runs"]
        assert oracle["output"] == oracle["saw"] == shown["reference"] and oracle["difference"] is None
        assert copy["output"] == copy["saw"] == shown["original"] and copy["difference"] is not None
        assert wrong["output"] == wrong["saw"], "a clean picture is read as it is"
        reference = np.asarray(Image.open(io.BytesIO(stored.row["edited_image"])).convert("RGB"))
        assert (pixels(shown["sources"][shown["reference"]]) == reference).all(), "nothing is lost"


def test_the_tables_say_what_the_summaries_say(runs: Path, tmp_path: Path) -> None:
    (runs / "copy" / "Maze" / "0.png").unlink()
    dataset = json.loads((runs / "copy" / "edit.json").read_text())["folder"]
    assert main(["score", dataset, str(runs / "copy"), "--jobs", "1"]) == 0
    report(tmp_path / "report", runs / "oracle", runs / "copy")
    tables = tmp_path / "report" / "tables"
    assert {path.name for path in tables.iterdir()} == {
        f"{name}.{kind}" for name in ("runs", "table2", "table5") for kind in ("csv", "json", "tex", "md")
    }
    rows = list(csv.DictReader((tables / "table5.csv").open(encoding="utf-8")))
    found = {(row["model"], row["column"]): row for row in rows}
    assert found["GPT-4o", "Maze"]["vlm_score_mean"] == "83.73" and found["GPT-4o", "Maze"]["source"] == "published"
    for name in ("oracle", "copy"):
        summary = json.loads((runs / name / "scores" / "summary.json").read_text())
        for category in ("Maze", "Tictactoe"):
            expected, row = summary["by_category"][category]["exact"]["correct"], found[name, category]
            assert float(row["exact_accuracy_mean"]) == pytest.approx(100 * expected["mean"], abs=0.005)
            assert int(row["exact_accuracy_failures"]) == expected["failures"]
            assert row["vlm_score_mean"] == ""
        assert found[name, "Overall"]["exact_accuracy_complete"] == "no", "sixteen categories are not there"
    assert found["copy", "Maze"]["exact_accuracy_failures"] == "1"


def test_scores_by_a_model_stand_apart_from_the_rules(runs: Path, tmp_path: Path) -> None:
    add_model_scores(runs / "wrong", scores=(4, 5, 5))
    loaded = load_runs([f"mine={runs / 'wrong'}"])
    lines = [line for line in dimension_table(loaded).lines if line.model == "mine"]
    assert [(line.measure, line.judge) for line in lines] == [(SCORE, "tiny-vlm"), (EXACT, "the rules")]
    assert [line.cells["Long-Horizon Planning"].mean for line in lines] == [pytest.approx(87.5), 0.0]
    assert len({line.block for line in lines}) == 2
    sample = Page(report(tmp_path / "report", f"mine={runs / 'wrong'}")).samples[0]["runs"][0]
    assert sample["vlm"]["percent"] == pytest.approx(87.5) and sample["word"] in ("wrong", "against the rules")


def test_categories_of_ours_are_in_no_average(runs: Path) -> None:
    (loaded,) = load_runs([str(runs / "oracle")])
    record = next(iter(loaded.exact.values()))
    chess = {**record, "category": "Chess", "output": "Chess/0", "correct": False}
    table = category_table([loaded.__class__(**{**as_fields(loaded), "exact": {**loaded.exact, "Chess/0": chess}})])
    (line,) = [line for line in table.lines if not line.published]
    assert table.columns["Chess"].ours and line.cells["Chess"].mean == 0
    assert line.cells["overall"].mean == 100 and "Chess" in table.note


def as_fields(run: Any) -> dict[str, Any]:
    return {name: getattr(run, name) for name in run.__dataclass_fields__}


def add_model_scores(run: Path, *, scores: tuple[int | None, int, int], failure: str = "") -> None:
    """As `gamegen score --judge vlm` would write them."""
    verdicts = [json.loads(line) for line in (run / "scores" / "exact.jsonl").read_text().splitlines()]
    records = [
        {
            **{name: verdict[name] for name in ("id", "category", "output", "found")},
            "model_failure": "" if verdict["found"] else "there is no picture",
            "passes": [dict(zip(QUESTIONS, scores, strict=True))],
            "replies": [dict.fromkeys(QUESTIONS, EVIL)],
            "failure": failure,
        }
        for verdict in verdicts
    ]
    (run / "scores" / "vlm.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    path = run / "scores" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"judge": {"model": "tiny-vlm"}}))


# Texts that bite ------------------------------------------------------------------------------------------------------


def test_no_text_can_break_out_of_the_page(runs: Path, tmp_path: Path) -> None:
    add_model_scores(runs / "copy", scores=(None, 1, 1), failure=EVIL)
    (runs / "copy" / "Maze" / "0.txt").write_text(EVIL, encoding="utf-8")
    (runs / "copy" / "Maze" / "1.png").unlink()
    failed = {"output": "Maze/1", "id": "x", "reason": EVIL}
    (runs / "copy" / "failures.jsonl").write_text(json.dumps(failed) + "\n")
    told = json.loads((runs / "copy" / "edit.json").read_text())
    (runs / "copy" / "edit.json").write_text(json.dumps(told | {"editor": EVIL, "options": {EVIL: EVIL}}))
    page = Page(report(tmp_path / "report", runs / "copy", "--title", EVIL))
    runs_told = {sample["output"]: sample["runs"][0] for sample in page.samples}
    assert runs_told["Maze/0"]["thinking"] == EVIL.strip() and runs_told["Maze/1"]["failure"] == EVIL
    assert page.pictures(0)["runs"][0]["replies"][0]["visual_quality"] == EVIL
    assert page.tags.count("script") == 2 + len(page.samples) and "img" not in page.tags
    assert "<script>alert" not in page.text and "innerHTML" not in page.scripts["code"]
    assert r"\textless{}/script" in (tmp_path / "report" / "tables" / "table2.tex").read_text()


def test_the_page_asks_the_network_for_nothing(runs: Path, tmp_path: Path) -> None:
    page = Page(report(tmp_path / "report", runs / "oracle"))
    assert all(address.startswith(("#", "data:")) for address in page.addresses)
    assert "default-src 'none'" in page.text and len(set(page.ids)) == len(page.ids)
    for word in ("http://", "https://", "@import", "fetch(", "XMLHttpRequest", "import(", "url("):
        assert word not in page.scripts["code"] and word not in page.body


# Runs that are not whole ----------------------------------------------------------------------------------------------


def test_what_is_missing_broken_or_unjudged_is_said(runs: Path, tmp_path: Path) -> None:
    run = runs / "oracle"
    lines = (run / "scores" / "exact.jsonl").read_text().splitlines(keepends=True)
    (run / "scores" / "exact.jsonl").write_text("".join(lines[:-2]))
    (run / "Maze" / "0.png").unlink()
    broken = run / "Maze" / "1.png"
    broken.write_bytes(broken.read_bytes()[:100])
    page = Page(report(tmp_path / "report", run))
    assert f"{ROWS - 1} of {ROWS} pictures" in page.body and f"{ROWS - 2} of {ROWS} judged by the rules" in page.body
    assert "1 pictures came or went since they were judged" in page.body
    told = {sample["output"]: (number, sample["runs"][0]) for number, sample in enumerate(page.samples)}
    assert told["Maze/0"][1]["stale"] and page.pictures(told["Maze/0"][0])["runs"][0]["output_note"] == "no picture"
    note = page.pictures(told["Maze/1"][0])["runs"][0]["output_note"]
    assert "cannot open 1.png" in note and str(tmp_path) not in page.text
    assert [sample["runs"][0]["word"] for sample in page.samples].count("not judged") == 2


def test_a_run_that_was_never_judged_is_shown_as_such(runs: Path, tmp_path: Path) -> None:
    shutil.rmtree(runs / "copy" / "scores")
    page = Page(report(tmp_path / "report", runs / "copy"))
    assert "Not judged yet" in page.body and {sample["runs"][0]["word"] for sample in page.samples} == {"not judged"}


def spoil_about(run: Path) -> None:
    (run / "edit.json").unlink()


def spoil_json(run: Path) -> None:
    (run / "edit.json").write_text('{"dataset": ')


def spoil_scores(run: Path) -> None:
    path = run / "scores" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dataset": "another"}))


def spoil_ids(run: Path) -> None:
    path = run / "scores" / "exact.jsonl"
    path.write_text(path.read_text().replace("maze/path@", "maze/path@9"))


def spoil_line(run: Path) -> None:
    path = run / "scores" / "exact.jsonl"
    path.write_text(path.read_text()[:-40])


def spoil_verdict(run: Path) -> None:
    path = run / "scores" / "exact.jsonl"
    path.write_text(path.read_text().replace('"quality":', '"quality":null,"other":', 1))


def spoil_passes(run: Path) -> None:
    add_model_scores(run, scores=(5, 5, 5))
    path = run / "scores" / "vlm.jsonl"
    path.write_text(re.sub(r'"passes": \[({.*?})\]', r'"passes": [\1, \1]', path.read_text(), count=1))


def spoil_place(run: Path) -> None:
    told = json.loads((run / "edit.json").read_text())
    (run / "edit.json").write_text(json.dumps(told | {"folder": "../nowhere"}))


def spoil_dataset(run: Path) -> None:
    told = json.loads((run / "edit.json").read_text())
    (run / "edit.json").write_text(json.dumps(told | {"dataset": "another"}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_about, "has no edit.json"),
        (spoil_json, "edit.json is damaged"),
        (spoil_scores, "scores of another dataset"),
        (spoil_ids, "no row of this dataset"),
        (spoil_line, f"line {ROWS} is damaged"),
        (spoil_verdict, "line 1 holds no verdict"),
        (spoil_passes, "more often than others"),
        (spoil_place, "--dataset"),
        (spoil_dataset, "scores of another dataset"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    runs: Path, tmp_path: Path, capsys: Any, spoil: Any, message: str
) -> None:
    spoil(runs / "copy")
    report(tmp_path / "report", runs / "copy", expect=2)
    assert message in capsys.readouterr().err and not (tmp_path / "report").exists()


def test_a_moved_dataset_is_named_and_checked(runs: Path, dataset: Path, tmp_path: Path, capsys: Any) -> None:
    spoil_place(runs / "copy")
    report(tmp_path / "report", runs / "copy", "--dataset", dataset)
    assert main(["make", "--tasks", "maze/path", "--count", "2", "--quiet", "--out", str(tmp_path / "other")]) == 0
    report(tmp_path / "report", runs / "copy", "--dataset", tmp_path / "other", expect=2)
    assert "another dataset" in capsys.readouterr().err
    report(tmp_path / "report", runs / "copy", "--dataset", tmp_path / "none", expect=2)
    assert "no such dataset folder" in capsys.readouterr().err


def test_runs_are_told_apart(runs: Path, tmp_path: Path, capsys: Any) -> None:
    shutil.copytree(runs / "copy", runs / "again")
    assert [run.label for run in load_runs([str(runs / "copy"), str(runs / "again")])] == [
        "copy (copy)",
        "copy (again)",
    ]
    report(tmp_path / "report", f"a={runs / 'copy'}", f"a={runs / 'copy'}", expect=2)
    assert "two runs are called" in capsys.readouterr().err
    spoil_dataset(runs / "again")
    shutil.rmtree(runs / "again" / "scores")
    report(tmp_path / "report", runs / "copy", runs / "again", expect=2)
    assert "different datasets" in capsys.readouterr().err


# Pictures -------------------------------------------------------------------------------------------------------------


def test_a_difference_is_amplified_and_has_the_reference_s_size() -> None:
    reference = np.zeros((40, 60, 3), np.uint8)
    output = reference.copy()
    output[10, 20] = (3, 10, 0)
    output[11, 20] = (200, 0, 0)
    found = difference(output, reference)
    assert found.shape == (40, 60) and found[10, 20] == 10 * AMPLIFIED and found[11, 20] == 255
    assert np.count_nonzero(found) == 2
    doubled = np.repeat(np.repeat(reference, 2, axis=0), 2, axis=1)
    assert not difference(doubled, reference).any()


def test_large_and_noisy_outputs_are_reduced(dataset: Path, tmp_path: Path) -> None:
    stored = next(read_dataset(dataset))
    noise = np.random.default_rng(0).integers(0, 256, (900, 1200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    shown = sample_pictures(stored, [(tmp_path / "noise.png", None)], 512)
    assert sum(map(len, shown["sources"])) < 250_000
    high, wide = pixels(shown["sources"][shown["runs"][0]["output"]]).shape[:2]
    assert max(high, wide) <= 512 and wide * 3 == high * 4
    assert shown["runs"][0]["saw"] is None and shown["runs"][0]["saw_note"] == "not judged by the rules"
