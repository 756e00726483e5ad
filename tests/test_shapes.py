"""Shapes against geometry, palettes against direct mixing of colours."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen.core.errors import BadInput
from renderers import shapes
from renderers.inks import FULL, MAX_ENTRIES, TOTAL, Coverage
from renderers.shapes import RGB, Inks

Draw = Callable[[int], Coverage]
SIZES = (7, 8, 16, 27, 33, 64, 100, 128)

LEFT_RIGHT: dict[str, Draw] = {
    "disc": lambda n: shapes.disc(n),
    "ring": lambda n: shapes.ring(n, radius=0.33, width=0.07),
    "rectangle": lambda n: shapes.rectangle(n, box=(0.2, 0.1, 0.8, 0.7), radius=0.1),
    "cross": lambda n: shapes.cross(n),
    "star": lambda n: shapes.star(n),
    "triangle": lambda n: shapes.triangle(n),
    "arrow": lambda n: shapes.arrow(n, towards=(0, 1)),
    "chevron": lambda n: shapes.chevron(n, towards=(0, -1)),
    "diamond": lambda n: shapes.diamond(n),
    "gem": lambda n: shapes.gem(n),
    "heart": lambda n: shapes.heart(n),
    "pacman": lambda n: shapes.pacman(n, towards=(0, 3)),
    "sector": lambda n: shapes.sector(n, towards=(0, -2)),
    "roof": lambda n: shapes.line(n, points=((0.1, 0.7), (0.5, 0.3), (0.9, 0.7))),
    "kite": lambda n: shapes.polygon(n, points=((0.5, 0.1), (0.8, 0.4), (0.5, 0.9), (0.2, 0.4)), grow=0.02),
}
UP_DOWN = ("disc", "ring", "cross", "diamond")

AREAS: dict[str, tuple[Draw, float]] = {
    "disc": (lambda n: shapes.disc(n, radius=0.4), math.pi * 0.16),
    "ring": (lambda n: shapes.ring(n, radius=0.3, width=0.1), math.pi * (0.35**2 - 0.25**2)),
    "rectangle": (lambda n: shapes.rectangle(n, box=(0.15, 0.2, 0.85, 0.7)), 0.35),
    "rounded": (
        lambda n: shapes.rectangle(n, box=(0.1, 0.1, 0.9, 0.9), radius=0.2),
        0.64 - (4 - math.pi) * 0.04,
    ),
    "triangle": (lambda n: shapes.triangle(n, radius=0.4), 0.16 * math.sqrt(3) * 3 / 4),
    "turned": (lambda n: shapes.triangle(n, radius=0.4, towards=(3, 4)), 0.16 * math.sqrt(3) * 3 / 4),
    "diamond": (lambda n: shapes.diamond(n, radius=0.4, slim=0.5), 0.16),
    "star": (lambda n: shapes.star(n, radius=0.45, waist=0.5), 5 * 0.45**2 * 0.5 * math.sin(math.pi / 5)),
    "line": (lambda n: shapes.line(n, points=((0.2, 0.3), (0.8, 0.3)), width=0.1), 0.06 + math.pi * 0.0025),
    "thin": (
        lambda n: shapes.line(n, points=((0.21, 0.3), (0.84, 0.53)), width=0.002),
        0.002 * math.hypot(0.63, 0.23),
    ),
    "sector": (lambda n: shapes.sector(n, radius=0.4, spread=1.0), math.pi * 0.04),
    "pacman": (lambda n: shapes.pacman(n, radius=0.4, spread=1.0), math.pi * 0.12),
    "heart": (lambda n: shapes.heart(n, radius=0.4), (0.4 / (0.5 + math.sqrt(2) / 4)) ** 2 * (1 + math.pi / 4)),
    "bow tie": (lambda n: shapes.polygon(n, points=((0.1, 0.1), (0.9, 0.9), (0.1, 0.9), (0.9, 0.1))), 0.32),
    "grown": (
        lambda n: shapes.polygon(n, points=((0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)), grow=0.1),
        0.16 + 0.16 + math.pi * 0.01,
    ),
}


@pytest.mark.parametrize("name", LEFT_RIGHT)
def test_symmetric_shapes_are_symmetric(name: str) -> None:
    for n in SIZES:
        coverage = LEFT_RIGHT[name](n)
        assert coverage.shape == (n, n)
        assert np.array_equal(coverage, coverage[:, ::-1]), n
        if name in UP_DOWN:
            assert np.array_equal(coverage, coverage[::-1]), n


@pytest.mark.parametrize("name", AREAS)
def test_area(name: str) -> None:
    draw, area = AREAS[name]
    n = 200
    assert draw(n).sum() / FULL / n**2 == pytest.approx(area, rel=0.02)


@pytest.mark.parametrize("name", ["disc", "cross", "star", "diamond", "gem", "heart"])
def test_emblems_sit_in_the_middle(name: str) -> None:
    for n in SIZES:
        rows = np.flatnonzero((LEFT_RIGHT[name](n) > FULL // 2).any(axis=1))
        assert abs(rows[0] + rows[-1] - (n - 1)) <= 1 + n // 50


def test_full_inside_and_empty_outside() -> None:
    n = 60
    x, y = np.meshgrid(np.arange(n) + 0.5 - n / 2, np.arange(n) + 0.5 - n / 2)
    away = np.hypot(x, y) - 0.3 * n
    coverage = shapes.disc(n, radius=0.3)
    assert (coverage[away < -0.6] == FULL).all()
    assert (coverage[away > 0.6] == 0).all()
    assert set(np.unique(coverage)) >= {0, FULL}
    assert len(np.unique(coverage)) > 8


def test_a_box_on_whole_pixels_has_no_soft_edge() -> None:
    coverage = shapes.rectangle(20, box=(0.1, 0.25, 0.9, 1.0))
    expected = np.zeros((20, 20), np.uint8)
    expected[5:, 2:18] = FULL
    assert np.array_equal(coverage, expected)


def test_turning_by_a_quarter_turns_the_picture() -> None:
    for n in SIZES:
        right, down = shapes.arrow(n, towards=(1, 0)), shapes.arrow(n, towards=(0, 1))
        assert np.array_equal(np.rot90(right, -1), down)


def test_pacman_and_his_slice_make_a_disc() -> None:
    whole = shapes.pacman(64).astype(int) + shapes.sector(64)
    assert np.abs(whole - shapes.disc(64, radius=0.4)).max() <= 3


def test_combinations() -> None:
    big, small = shapes.disc(40, radius=0.4), shapes.disc(40, radius=0.2)
    assert np.array_equal(shapes.union(big, small), big)
    assert np.array_equal(shapes.intersection(big, small), small)
    hollow = shapes.subtract(big, small)
    assert hollow[20, 20] == 0
    assert hollow[20, 6] == FULL
    assert shapes.fade(big, 5).max() == 5
    assert np.array_equal(shapes.fade(big, FULL), big)


def test_stamp_centres_and_cuts() -> None:
    ink = np.full((4, 2), FULL, np.uint8)
    middle = shapes.stamp(10, ink)
    assert np.array_equal(np.argwhere(middle)[[0, -1]], [[3, 4], [6, 5]])
    assert np.argwhere(shapes.stamp(10, ink, centre=(0.57, 0.57)))[0].tolist() == [4, 5]
    assert shapes.stamp(10, ink, centre=(0.0, 0.0)).sum() == 2 * FULL
    assert shapes.stamp(10, ink, centre=(1.0, 1.0)).sum() == 2 * FULL
    assert shapes.stamp(10, ink, centre=(3.0, -3.0)).sum() == 0
    assert shapes.stamp(3, np.full((9, 9), FULL, np.uint8)).sum() == 9 * FULL


def test_shapes_are_read_only_and_remembered() -> None:
    first = shapes.disc(32)
    assert shapes.disc(32) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_unfit_shapes_are_refused() -> None:
    for draw in (
        lambda: shapes.disc(0),
        lambda: shapes.line(9, points=((0.5, 0.5),)),
        lambda: shapes.polygon(9, points=((0.1, 0.1), (0.9, 0.9))),
        lambda: shapes.arrow(9, towards=(0, 0)),
        lambda: shapes.fade(shapes.disc(9), 16),
    ):
        with pytest.raises(BadInput):
            draw()


colours = st.tuples(*[st.integers(0, 255)] * 3)
NAMES = ("paper", "ink", "gold", "sky")


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, colours)), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_palette_is_what_mixing_colours_directly_gives(rgb: dict[str, RGB], seed: int) -> None:
    source = np.random.Generator(np.random.PCG64(seed))
    n = 12
    layers = [(source.integers(0, FULL + 1, (n, n), dtype=np.uint8), name) for name in NAMES[1:]]
    for coverage, _ in layers:  # most pixels of real tiles are wholly in or out
        coverage[source.random((n, n)) < 0.5] = 0
        coverage[source.random((n, n)) < 0.3] = FULL
    inks = Inks(NAMES)
    tile = shapes.compose(inks, n, layers, "paper")
    direct = np.full((n, n, 3), rgb["paper"], np.float64)
    for coverage, name in layers:
        share = coverage[:, :, None] / FULL
        direct += (np.array(rgb[name]) - direct) * share
    assert len(inks) < 192
    assert np.abs(inks.palette(rgb)[tile] - direct).max() <= 0.5 + 1e-9


def test_ramp_runs_from_under_to_over() -> None:
    inks = Inks(("paper", "ink"))
    base = inks.ramp("paper", "ink")
    assert inks.ramp("paper", "ink") == base
    coverage = shapes.disc(20)
    tile = shapes.blend(inks, coverage, under="paper", over="ink")
    palette = inks.palette({"paper": (255, 255, 255), "ink": (0, 30, 60)})
    assert tile.dtype == np.uint8
    assert palette[base].tolist() == [255, 255, 255]
    assert palette[base + FULL].tolist() == [0, 30, 60]
    mixed = (255 * (FULL - coverage[..., None].astype(int)) + np.array([0, 30, 60]) * coverage[..., None]) / FULL
    assert np.abs(palette[tile] - mixed).max() <= 0.5


def test_solid_colours_come_first_and_exact() -> None:
    inks = Inks(("a", "b", "c"))
    palette = inks.palette({"c": (1, 2, 3), "a": (255, 254, 253), "b": (0, 0, 0)})
    assert [inks.solid(name) for name in "abc"] == [0, 1, 2]
    assert palette.tolist() == [[255, 254, 253], [0, 0, 0], [1, 2, 3]]


def test_a_full_palette_takes_the_nearest_entry() -> None:
    source = np.random.Generator(np.random.PCG64(11))
    inks = Inks(NAMES)
    for _ in range(4):
        layers = [(source.integers(1, FULL, (30, 30), dtype=np.uint8), name) for name in NAMES[1:]]
        tile = shapes.compose(inks, 30, layers, "paper")
        assert tile.max() < len(inks)
    assert len(inks) == MAX_ENTRIES - 64
    # Mixes of two colours still find room, and then all is full.
    for under in NAMES:
        for over in NAMES:
            for level in range(FULL + 1):
                inks.mix({under: FULL} if under == over else {under: FULL - level, over: level})
    assert len(inks) <= MAX_ENTRIES
    spare = Inks([f"c{at}" for at in range(MAX_ENTRIES)])
    assert spare.mix({"c3": 9, "c7": 6}) == 3
    assert spare.mix({"c3": 1, "c7": 1}) == 3
    with pytest.raises(BadInput, match="no room"):
        spare.ramp("c0", "c1")


def test_recipes_add_up() -> None:
    inks = Inks(("a", "b", "c"))
    inks.ramp("a", "c")
    mixed = inks.mix({"a": 1, "b": 2, "c": 4})
    assert inks.recipes[mixed] == (7232, 14464, 28929)
    assert inks.mix({"c": 8, "b": 4, "a": 2}) == len(inks) - 1
    assert {sum(recipe) for recipe in inks.recipes} == {TOTAL}


def test_no_new_blends_after_the_first_palette() -> None:
    inks = Inks(("paper", "ink"))
    tile = shapes.compose(inks, 16, [(shapes.disc(16), "ink")], "paper")
    palette = inks.palette({"paper": (0, 0, 0), "ink": (9, 9, 9)})
    assert np.array_equal(shapes.compose(inks, 16, [(shapes.disc(16), "ink")], "paper"), tile)
    for _ in range(2):
        with pytest.raises(BadInput, match="before its palettes"):
            inks.ramp("ink", "paper")
    assert len(inks) == len(palette)


def test_unfit_inks_are_refused() -> None:
    inks = Inks(("paper", "ink"))
    with pytest.raises(BadInput, match="did you mean 'paper'"):
        inks.solid("papre")
    with pytest.raises(BadInput):
        Inks(("a", "a"))
    for parts in ({}, {"ink": 0}, {"ink": 3, "paper": -1}):
        with pytest.raises(BadInput):
            inks.mix(parts)
    with pytest.raises(BadInput):
        shapes.compose(inks, 9, [(shapes.disc(8), "ink")], "paper")
    with pytest.raises(BadInput):
        shapes.compose(inks, 2, [(np.full((2, 2), 16, np.uint8), "ink")], "paper")
    with pytest.raises(BadInput):
        inks.palette({"paper": (0, 0, 0)})
    with pytest.raises(BadInput):
        inks.palette({"paper": (0, 0, 0), "ink": (0, 0, 256)})


PROGRAM = """
import hashlib
from renderers import shapes
inks = shapes.Inks(("paper", "ink", "gold"))
digest = hashlib.sha256()
for n in (9, 24, 61):
    layers = [(shapes.star(n, grow=0.05), "ink"), (shapes.star(n), "gold"), (shapes.heart(n, radius=0.2), "ink")]
    digest.update(shapes.compose(inks, n, layers, "paper").tobytes())
    digest.update(shapes.pacman(n, towards=(2, 1)).tobytes())
digest.update(inks.palette({"paper": (250, 240, 230), "ink": (20, 10, 40), "gold": (240, 190, 30)}).tobytes())
print(digest.hexdigest())
"""


def test_same_tiles_in_another_process_and_for_ever(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "5", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    exec(PROGRAM, {})
    assert run.stdout == capsys.readouterr().out
    assert run.stdout.strip() == "0e4d8a86e08f656d318e535f4d5a377a24eaca9936c2b5174a419c8e5662779f"
