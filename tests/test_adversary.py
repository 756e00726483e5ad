"""The adversary's own promises: attacks are made, wrong ones are wrong, and the judge withstands drawn ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gamegen.adversary import ATTACKS
from gamegen.audit import attacked
from gamegen.core.key import LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.registry import select
from gamegen.sample import make_sample


def test_every_attack_says_what_it_is() -> None:
    assert all(attack.__doc__ for name, attack in ATTACKS.items() if name not in ("two_mutations", "blank"))


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_depend_on_nothing_but_sample_and_stream(name: str) -> None:
    sample = make_sample("chess/attacks@1:train:2:0:0?pixels=256")
    one, other = (ATTACKS[name](sample, Stream("again", 3)) for _ in range(2))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one[1] == other[1] and one[0].tobytes() == other[0].tobytes()


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in ("gold", "copy")])
def test_an_attack_differs_from_the_answer(name: str) -> None:
    """A wrong picture that were the answer itself would prove nothing."""
    made = [ATTACKS[name](make_sample("sokoban/push@1:train:2:0:0"), Stream("differs", n)) for n in range(3)]
    answer = make_sample("sokoban/push@1:train:2:0:0").edited.tobytes()
    assert all(attack is None or attack[1] or attack[0].tobytes() != answer for attack in made)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    task=st.sampled_from(select("all")),
    level=st.sampled_from(LEVELS),
    seed=st.integers(0, 2**16),
    kind=st.sampled_from(list(ATTACKS)),
    number=st.integers(0, 2**16),
)
def test_the_judge_withstands_drawn_attacks(task: str, level: int, seed: int, kind: str, number: int) -> None:
    """Whatever is drawn, the verdict is the one deserved; a failure shrinks to the easiest sample and first attack.

    `gamegen audit` does the same a hundred thousand times; this finds the smallest case of what it would find.
    """
    sample = make_sample(Key(task, level=level, seed=seed, pixels=256))
    attack = attacked(kind, sample, number)
    if attack is not None:
        image, deserved = attack
        verdict = verify(sample, image)
        assert verdict.correct == deserved, f"{kind} {sample.id} #{number}: {verdict.reason}"


def test_labels_at_the_edge_of_the_page_are_left_alone() -> None:
    """The last label of a fine maze, with room around it, reaches beyond the page: there an audit broke off."""
    sample = make_sample("maze/path@1:train:5:81209:0")
    assert ATTACKS["wrong_label"](sample, Stream(sample.id, "attack", 4)) is None


def test_a_bolder_line_is_no_stroke() -> None:
    """A box's own frame, drawn twice as wide; a bar through the same box in the same orange is a stroke."""
    sample = make_sample("sokoban/push@1:train:2:400000000020:0?pixels=256")
    assert ATTACKS["scrawl"](sample, Stream(sample.id, "attack", 140)) is None
    made = [ATTACKS["scrawl"](sample, Stream(sample.id, "attack", number)) for number in range(60)]
    assert sum(attack is not None for attack in made) > 20
    assert all(attack is None or not verify(sample, attack[0]).correct for attack in made)
