"""What people decided, in the export and in the status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gamegen.__main__ import main
from gamegen.stored import read_dataset
from realworld.review.ballot import Ballot
from realworld.review.items import Item, items
from realworld.review.store import Store
from realworld.run import Run


def vote(store: Store, stage: int, item: Item, ballot: Ballot) -> None:
    (lease,) = [lease for lease in store.take(stage, "anna", most=99, hold=60) if lease.key == item.key]
    store.cast(stage, "anna", item, ballot, token=lease.token)


@pytest.fixture
def inspected(finished: Path, tmp_path: Path) -> Path:
    """The first candidate is kept with another effect, the second dropped, the third seen once, the others not."""
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    run = Run.open(folder)
    found = items(run.candidates())
    with Store(run.decisions) as store:
        store.begin(found, stage=1, asked=1)
        vote(store, 1, found[0], Ballot("keep"))
        vote(store, 1, found[1], Ballot("drop", reasons=()))
        vote(store, 1, found[2], Ballot("keep"))
        store.begin(found, stage=2, asked=1)
        vote(store, 2, found[0], Ballot("keep", texts={"effect": "The corrected effect."}))
    return folder


def exported(folder: Path) -> Mapping[str, dict[str, object]]:
    return {str(stored.row["id"]).removeprefix("real/"): stored.row for stored in read_dataset(folder / "dataset")}


def test_what_people_kept_is_exported_as_they_corrected_it(inspected: Path) -> None:
    first, *_ = Run.open(inspected).candidates()
    assert main(["real", "export", str(inspected)]) == 0
    (name,), (row,) = exported(inspected), exported(inspected).values()
    assert name == first.id and row["reference_effect"] == "The corrected effect."
    assert row["instruction"] == first.instruction
    assert json.loads(str(row["provenance"]))["reviewers"] == ["anna"]


def test_without_people_only_what_they_dropped_is_left_out(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [candidate.id for candidate in Run.open(inspected).candidates()]
    assert main(["real", "export", str(inspected), "--unreviewed"]) == 0
    assert list(exported(inspected)) == [found[0], *found[2:]]
    assert "1 dropped by people in stage 1" in capsys.readouterr().out


def test_an_export_takes_the_place_of_an_older_one_only(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--unreviewed"], []):
        assert main(["real", "export", str(inspected), *more]) == 0
    assert len(exported(inspected)) == 1
    shutil.rmtree(inspected / "dataset")
    (inspected / "dataset").mkdir()
    capsys.readouterr()
    assert main(["real", "export", str(inspected)]) == 2
    assert "is no export of ours; move it away" in capsys.readouterr().err


def test_the_status_counts_them(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["real", "export", str(inspected)])
    capsys.readouterr()
    assert main(["real", "status", str(inspected), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    steps = {step: counts["all"] for step, counts in found["steps"].items()}
    assert (steps["stage 1"], steps["stage 2"], steps["exported"]) == (2, 1, 1)
    assert found["drops"]["review"] == {"dropped by people in stage 1": 1}


def test_decisions_are_written_by_the_command(inspected: Path, tmp_path: Path) -> None:
    assert main(["real", "review", str(inspected), "--decisions", str(tmp_path / "d.json")]) == 0
    assert len(json.loads((tmp_path / "d.json").read_text())["decisions"]) == 3
