from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from edit_models.bagel.config import BagelConfig
from edit_models.bagel.data import Rows
from edit_models.bagel.loading import Checkpoint
from edit_models.bagel.packing import (
    Drawing,
    Pack,
    PackState,
    SampleMaker,
    TrainSample,
    ahead,
    packs,
    prepare,
)
from edit_models.bagel.sequence import Gap, Patches, Text
from edit_models.bagel.tokenizer import Tokenizer
from gamegen.core.errors import BadInput


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 10])
def test_every_row_is_read_once_a_lap_by_exactly_one_rank(board_data: Path, ranks: int) -> None:
    for lap in range(3):
        seen: Counter[str] = Counter()
        for rank in range(ranks):
            rows = Rows(board_data, seed=1, rank=rank, ranks=ranks)
            assert rows.count >= 1
            seen.update(rows.row(lap * rows.count + n)["id"] for n in range(rows.count))
        assert seen == {f"row-{n}": 1 for n in range(10)}


def test_the_order_is_the_seeds_and_changes_from_lap_to_lap(board_data: Path) -> None:
    def order(seed: int, lap: int) -> list[str]:
        rows = Rows(board_data, seed=seed)
        return [rows.row(lap * 10 + n)["id"] for n in range(10)]

    assert order(1, 0) == order(1, 0)
    assert len({tuple(order(seed, lap)) for seed in (1, 2) for lap in (0, 1)}) == 4


def test_too_few_rows_or_none_are_refused(board_data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="10 rows: too few for 11 ranks"):
        Rows(board_data, seed=1, ranks=11)
    with pytest.raises(BadInput, match="no Parquet files"):
        Rows(tmp_path, seed=1)


def test_words_are_stripped_and_rules_come_first(board_data: Path) -> None:
    rows = Rows(board_data, seed=1)
    texts = {rows.row(n)["id"]: rows.example(n).instruction for n in range(10)}
    assert texts["row-4"] == "Place X, 4."
    assert texts["row-5"] == "Three in a row win. Place X, 5."


def test_uniredit_files_hold_paths_which_may_not_leave_the_folder(tmp_path: Path) -> None:
    Image.new("RGB", (40, 40), "red").save(tmp_path / "before.png")
    Image.new("RGB", (40, 40), "blue").save(tmp_path / "after.png")
    row = {"before_image_path": "before.png", "after_image_path": "after.png", "instruction": "Dye it."}
    row |= {"reasoning": "Blue is asked.", "rules": None}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "data.parquet")
    example = Rows(tmp_path, seed=0).example(0)
    assert example.target.getpixel((0, 0)) == (0, 0, 255)
    assert example.instruction == "Dye it."
    pq.write_table(pa.Table.from_pylist([{**row, "before_image_path": "../x.png"}]), tmp_path / "data.parquet")
    with pytest.raises(BadInput, match="leads out of"):
        Rows(tmp_path, seed=0).example(0)


def test_foreign_columns_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"picture": ["x"]}), tmp_path / "data.parquet")
    with pytest.raises(BadInput, match="original_image and edited_image or before_image_path"):
        Rows(tmp_path, seed=0)


def maker(data: Path, tokenizer: Tokenizer, config: BagelConfig, *, drop: float = 0.0) -> SampleMaker:
    return SampleMaker(Rows(data, seed=1), tokenizer, config, seed=1, drop_source=drop, prompt="")


def test_the_layout_is_the_papers(board_data: Path, tokenizer: Tokenizer, tiny_folder: Path) -> None:
    config = Checkpoint(tiny_folder).config
    sample = maker(board_data, tokenizer, config)(0)
    prompt, source, seen, asked, thought, target = sample.pieces
    assert isinstance(prompt, Text) and prompt.predict == "nothing"
    assert isinstance(source, Drawing) and not source.learn
    assert isinstance(seen, Patches)
    assert isinstance(asked, Text) and asked.predict == "nothing"
    assert isinstance(thought, Text) and thought.predict == "each"
    assert tokenizer.words(thought.ids[1:-1]).startswith("<think>The centre")
    assert isinstance(target, Drawing) and target.learn and target.tokens == 16
    dropped = maker(board_data, tokenizer, config, drop=1.0)(0)
    assert isinstance(dropped.pieces[1], Gap) and dropped.length == sample.length - 18


def test_the_drop_rate_is_kept(board_data: Path, tokenizer: Tokenizer, tiny_folder: Path) -> None:
    make = maker(board_data, tokenizer, Checkpoint(tiny_folder).config, drop=0.3)
    share = sum(isinstance(make(n).pieces[1], Gap) for n in range(200)) / 200
    assert 0.2 < share < 0.4


def plain(lengths: list[int]):
    """A maker of text-only samples whose lengths repeat."""
    return lambda number: TrainSample(number, str(number), (Text((0,) * lengths[number % len(lengths)]),))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 130), min_size=1, max_size=12), st.integers(0, 15))
def test_packing_loses_and_repeats_nothing_and_resumes(lengths: list[int], cut: int) -> None:
    budget = 100
    if all(length > budget for length in lengths):
        return
    make = plain(lengths)
    whole = list(islice(packs(make, budget, PackState()), 25))
    again = whole[: cut + 1] + list(islice(packs(make, budget, whole[cut].after), 24 - cut))
    assert [[s.number for s in p.samples] for p in whole] == [[s.number for s in p.samples] for p in again]
    used = [sample.number for pack in whole for sample in pack.samples]
    last = whole[-1].after
    short = [n for n in range(last.next_row) if lengths[n % len(lengths)] <= budget]
    assert sorted([*used, *last.waiting]) == short
    assert last.too_long == last.next_row - len(short)
    assert all(0 < pack.length <= budget for pack in whole)


def test_packs_are_well_filled() -> None:
    lengths = torch.randint(20, 60, (200,), generator=torch.Generator().manual_seed(0)).tolist()
    some = list(islice(packs(plain(lengths), 400, PackState()), 20))
    assert sum(pack.length for pack in some) / (20 * 400) > 0.95


def test_a_budget_that_fits_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="longer than the budget"):
        next(packs(plain([50]), 10, PackState()))


def test_reading_ahead_keeps_order_and_hands_over_errors() -> None:
    def numbers():
        yield from range(5)
        raise BadInput("row 5 is broken")

    read = ahead(numbers())
    assert [next(read) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(BadInput, match="row 5"):
        next(read)


def test_a_latent_does_not_depend_on_its_neighbours(board_data: Path, tokenizer: Tokenizer, tiny_folder: Path) -> None:
    """Alone or in a pack, a sample has the same latents, noise, time and velocity."""
    checkpoint = Checkpoint(tiny_folder)
    make = maker(board_data, tokenizer, checkpoint.config)
    how = {"device": "cpu", "seed": 1, "shift": 4.0}
    parts = (checkpoint.autoencoder(), tokenizer, checkpoint.config)
    both = prepare(Pack((make(0), make(1)), PackState()), *parts, **how)
    alone = [prepare(Pack((make(n),), PackState()), *parts, **how) for n in (0, 1)]
    assert torch.equal(both.tokens.latents, torch.cat([x.tokens.latents for x in alone]))
    assert torch.equal(both.wanted, torch.cat([x.wanted for x in alone]))
    assert torch.equal(both.labels, torch.cat([x.labels for x in alone]))
    assert len(both.tokens.predict) == len(both.labels) and len(both.tokens.denoise) == len(both.wanted)
    times = alone[0].tokens.times
    assert times[:16].eq(0).all() and times[16:].unique().numel() == 1 and times[16] > 0
    clean = alone[0].tokens.latents[16:] - times[16] * alone[0].wanted  # x_t - t v = x_0
    target = alone[0].tokens.latents[:16]
    assert not torch.allclose(clean, target)  # the edit differs from the source ...
    green = clean.reshape(16, 4, 3, 16)[:, :, 1]  # ... in its green channel, which the row paints 200
    pixels = green / checkpoint.config.latent.scale + checkpoint.config.latent.shift
    assert torch.allclose(pixels, torch.full_like(green, 200 / 255 * 2 - 1), atol=1e-4)


def test_labels_are_the_next_tokens(board_data: Path, tokenizer: Tokenizer, tiny_folder: Path) -> None:
    checkpoint = Checkpoint(tiny_folder)
    sample = maker(board_data, tokenizer, checkpoint.config)(0)
    batch = prepare(
        Pack((sample,), PackState()), checkpoint.autoencoder(), tokenizer, checkpoint.config,
        device="cpu", seed=1, shift=1.0,
    )  # fmt: skip
    assert torch.equal(batch.tokens.text[batch.tokens.predict + 1], batch.labels)
    assert batch.labels[-1] == tokenizer.markers.end
