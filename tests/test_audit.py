"""The adversary: it finds a gullible judge, a blind one, and neither in ours."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gamegen import audit
from gamegen.__main__ import main
from gamegen.core.errors import BadInput
from gamegen.core.verdict import Verdict
from gamegen.judge import verify


def test_our_judge_withstands() -> None:
    whole = audit.total(
        audit.audit_task("tictactoe/best", 80, seed=5, kinds=("gold", "mutation", "copy", "other_gold"))
    )
    assert whole.attempts > 60 and whole.deserved > 10
    assert not whole.false_accepts and not whole.false_refusals


@pytest.mark.parametrize("gullible", [True, False])
def test_a_bad_judge_is_found(gullible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that accepts everything is fooled by every wrong picture; one that refuses everything is blind to gold."""

    def bad(row: object, image: object) -> Verdict:
        return replace(verify(row, image), correct=gullible)  # type: ignore[arg-type]

    monkeypatch.setattr(audit, "verify", bad)
    tallies = audit.audit_task("tictactoe/best", 32, kinds=("gold", "copy"))
    assert len(tallies["copy"].false_accepts) == (tallies["copy"].attempts if gullible else 0)
    assert len(tallies["gold"].false_refusals) == (0 if gullible else tallies["gold"].attempts)


def test_unknown_attacks_suggest_the_nearest() -> None:
    with pytest.raises(BadInput, match="mutation"):
        audit.audit_task("tictactoe/best", 1, kinds=("mutaton",))


def test_a_tampered_dataset_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    make = ["make", "--tasks", "tictactoe", "--count", "4", "--format", "uniredit", "--out", str(folder)]
    assert main(make) == 0
    assert main(["audit", str(folder)]) == 0
    index = folder / "data.json"
    index.write_text(
        re.sub(r'"instruction": "[^"]*"', '"instruction": "x"', index.read_text(encoding="utf-8"), count=1)
    )
    assert main(["audit", str(folder)]) == 1
    assert "instruction is not what the id rebuilds" in capsys.readouterr().out
