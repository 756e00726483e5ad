"""Judges' replies: what is a score, and what must not be taken for one."""

from __future__ import annotations

import pytest

from gamegen.core.errors import JudgeFailed
from scoring.parse import parse_reply

GOOD = [
    ('{"score": 4, "reason": "The path is one cell short."}', 4),
    ('{"reason": "clean", "score": 5}', 5),
    ('```json\n{"score": 1, "reason": ""}\n```', 1),
    ('<think>maybe {"score": 2}, no</think> {"score": 3, "reason": "a } in the text"}', 3),
    ('{"score": 4.0}', 4),
    ('{"score": "2"}', 2),
    ("Final Score: 4", 4),
    ("Final Score is 4", 4),
    ("Final Score is: **4**.", 4),
    ("**Final Score:** 3", 3),
    ("Final score → 3", 3),
    ("Final Score -> 2", 2),
    ("Final Score - 5", 5),
    ("Final Score = 5", 5),
    ("Final Score (1-5): 2", 2),
    ("score (1-5): 2", 2),
    ("Score [1–5]: 4", 4),
    ("1-5 scale: 3", 3),
    ("On a 1-5 scale: 3", 3),
    ("Score on a scale of 1 to 5: 1", 1),
    ("Final Score: 4/5", 4),
    ("Rating: 4 out of 5", 4),
    ("final score:\n5", 5),
    ("Final Score: 4.0", 4),
    (r"Final Score: $\boxed{4}$", 4),
    ("Score: 2 at first sight. On reflection, Score: 3", 3),
    ("Final Score: 2. A careless reader would give a score of 5", 2),
    ("Final Score: 2\nFinal Score: 4", 4),
    ("The board has 9 cells, 3 of them red. Final Score: 1", 1),
]

BAD = [
    "",
    "   ",
    "The edit is fine.",
    "4",
    "Final Score: 4.5",
    "Final Score: 4,5",
    "Final Score: 10",
    "Final Score: 0",
    "Final Score: 6",
    "Final Score: -1",
    "Final Score: 8/10",
    "Final Score: 3/10",
    "Final Score: 3-4",
    "Final Score: 3 or 4",
    "Final Score: 1-5",
    "Final Score: 5%",
    "Final Score: four",
    "Final Score: 4\nFinal Score: 4.5",
    '{"score": 4.5, "reason": "between"}',
    '{"score": 10}',
    '{"score": true}',
    '{"score": null}',
    '{"score": [4]}',
    '{"score": 1e999}',
    '{"score": NaN}',
    '{"score": 4, "rea',
    '{"reason": "cut',
    "{" * 5000,
    "<html>502 Bad Gateway</html>",
]


@pytest.mark.parametrize(("reply", "score"), GOOD)
def test_a_stated_score_is_read(reply: str, score: int) -> None:
    assert parse_reply(reply).score == score


@pytest.mark.parametrize("reply", BAD)
def test_a_doubtful_reply_is_refused(reply: str) -> None:
    with pytest.raises(JudgeFailed):
        parse_reply(reply)


def test_the_reason_travels_with_the_score() -> None:
    assert parse_reply('{"score": 4, "reason": "one cell short"}').reason == "one cell short"
    assert parse_reply("One cell short. Final Score: 4").reason == "One cell short."
