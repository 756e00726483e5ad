"""Attacks on what the answer drew anew, where other hands are welcome: crossed out, struck through or boxed in.

The strokes are in the picture's own colours, so no single pixel of them is foreign to it.
"""

from __future__ import annotations

import io
from itertools import pairwise

import cv2
import numpy as np
from PIL import Image, ImageDraw

from gamegen.adversary.canvas import Flags, canvas, gap, picture
from gamegen.adversary.positions import Made
from gamegen.core.rendering import Colour
from gamegen.core.stream import Stream
from gamegen.sample import Sample
from renderers.board import BoardRenderer
from renderers.reading.foreign import off_colours

STROKE, THINNEST = (0.008, 0.012), 4
"""Between which widths a stroke is, as shares of the picture's side: 4 to 6 pixels of 512. Thinner ones are forgiven,
and in small pictures those of less than four pixels."""

FINEST = 5
"""How many strokes fit side by side into a cell: in smaller ones nobody could tell one from a slip of the pen."""

REACH = 0.94
"""The share of a cell's side along which a stroke runs, which is farther than any mark that belongs there."""

LOUD, MOSTLY = 90, 0.5
"""Grey levels by which a stroke stands out, and the share of it that must."""

ALIKE = 24
"""Grey levels by which colours differ that nobody could tell apart: a maze's page is up to 15 from its floor."""

GROUNDS = ("page", "cell", "floor", "wall", "light", "dark", "blank", "empty")
"""Colours of what lies under everything else: of these nothing is the larger."""

INSET = 0.12
"""Share of its side by which a box is inside."""

COMMON = 0.004
"""Share of a picture that a colour has to be one of its own."""

SMALL = 400
"""Side of pictures in which a rim at a square's border may be as wide as a stroke."""

WHOLE = 0.066
"""Side of a cell where there is no board, as a share of the picture's; in small ones it is as large as strokes need."""

QUALITY = (50, 90)
"""What a picture is compressed with, one time in three."""

Box = tuple[float, float, float, float]
"""left, top, right and bottom, in pixels."""


def scrawl(sample: Sample, rng: Stream) -> Made:
    """The answer with a cross, a bar or a box over a cell that it drew anew: nobody asked for it."""
    image = picture(canvas(sample).after)
    box, colour = _cell(sample, rng), rng.choice(_colours(sample))
    width = max(THINNEST, round((STROKE[0] + rng.random() * (STROKE[1] - STROKE[0])) * image.width))
    if box[2] - box[0] < FINEST * width:
        return None
    lines = rng.choice(_shapes(box, rng, sample, colour))
    thins = is_maze(sample) and _only_thins(lines, colour, sample)
    whole = _pieces(image, sample, width) if thins else 0
    pen, layer = ImageDraw.Draw(image), Image.new("L", image.size)
    for line in lines:
        pen.line(line, fill=colour, width=width)
        ImageDraw.Draw(layer).line(line, fill=255, width=width)
    drawn = np.asarray(layer) > 0
    stands_out = gap(np.asarray(image), canvas(sample).after)[drawn] > LOUD
    if np.count_nonzero(stands_out) < MOSTLY * np.count_nonzero(drawn):
        return None
    if thins and _pieces(image, sample, width) == whole:
        return None
    if _may_be_rim(lines, colour, drawn, sample) or _only_bolder(drawn, colour, width, image, sample):
        return None
    widens = _only_widens(lines, gap(np.asarray(image), canvas(sample).after) > ALIKE, sample)
    if widens and colour in _fills(sample):
        return None
    if not rng.chance(1 / 3):
        return image, False
    if widens:
        return None
    return compressed(image, rng.between(*QUALITY)), False


def _cell(sample: Sample, rng: Stream) -> Box:
    """A cell in which the answer changed something, less what is at its border."""
    rows, cols = np.nonzero(canvas(sample).edit)
    number = rng.below(len(rows))
    row, col = int(rows[number]), int(cols[number])
    renderer, position = sample.plugin.renderer, sample.problem.position
    if isinstance(renderer, BoardRenderer):
        frame = renderer.board(sample.style, *renderer.size(position)).frame
        side = float(frame.cell)
        top = frame.top + min(max(0, (row - frame.top) // frame.cell), frame.rows - 1) * side
        left = frame.left + min(max(0, (col - frame.left) // frame.cell), frame.cols - 1) * side
    else:
        side = max(WHOLE * sample.key.pixels, (FINEST * THINNEST + 0.5) / REACH)
        top, left = row - side / 2, col - side / 2
    edge = (1 - REACH) / 2 * side
    return left + edge, top + edge, left + side - edge, top + side - edge


def _shapes(box: Box, rng: Stream, sample: Sample, colour: Colour) -> list[list[Box]]:
    """The strokes that may be drawn in a box: crosses, bars, and a box in no colour of which a border may be.

    A box of ground at the border of a tile only makes it smaller.
    """
    left, top, right, bottom = box
    x, y = (start + (0.25 + 0.5 * rng.random()) * (end - start) for start, end in ((left, right), (top, bottom)))
    across, down = (left, y, right, y), (x, top, x, bottom)
    falling, rising = (left, top, right, bottom), (left, bottom, right, top)
    shapes: list[list[Box]] = [[falling, rising], [across, down], [falling], [rising], [across], [down]]
    if colour not in asked(sample) and not _makes_smaller(sample, colour):
        shapes.append(_inside(box))
    return shapes


def _inside(box: Box) -> list[Box]:
    left, top, right, bottom = box
    edge = INSET * (right - left)
    left, top, right, bottom = left + edge, top + edge, right - edge, bottom - edge
    corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    return [(*one, *other) for one, other in pairwise(corners)]


def _only_widens(lines: list[Box], seen: Flags, sample: Sample) -> bool:
    """Whether this is a bar along a line of its own colour, where there is no board, of which less is seen than a
    stroke is wide: then the line is a little wider, which is forgiven in compressed pictures."""
    if isinstance(sample.plugin.renderer, BoardRenderer) or not _is_bar(lines):
        return False
    left, top, right, bottom = lines[0]
    across = seen.sum(axis=0 if top == bottom else 1)  # of each pixel along the bar, how many beside it are seen
    return bool(np.count_nonzero(across >= THINNEST) < MOSTLY * max(right - left, bottom - top))


def _only_bolder(drawn: Flags, colour: Colour, width: int, image: Image.Image, sample: Sample) -> bool:
    """Whether all that strokes change on a board lies along lines of their own colour, no farther off than half their
    width: then these lines are bolder, as another hand may draw them. Grounds have no lines."""
    after, own = canvas(sample).after, sample.style.colours()
    grounds = [own[name] for name in GROUNDS if name in own]
    if not isinstance(sample.plugin.renderer, BoardRenderer) or any(_alike(colour, ground) for ground in grounds):
        return False
    low, high = ([level + by for level in colour] for by in (-ALIKE, ALIKE))
    near = cv2.dilate(cv2.inRange(after, np.array(low), np.array(high)), np.ones((width // 2 * 2 + 1,) * 2, np.uint8))
    return not (drawn & (near == 0) & (gap(np.asarray(image), after) > LOUD)).any()


def _alike(one: Colour, other: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < ALIKE


def _may_be_rim(lines: list[Box], colour: Colour, drawn: Flags, sample: Sample) -> bool:
    """Whether this is a bar along a line of a small silhouette, in a colour between the line's and bare squares': then
    nobody could tell it from a bare rim, which whoever fills a square may leave."""
    own = sample.style.colours()
    if sample.key.pixels >= SMALL or not _is_bar(lines) or not {"blank", "frame"} <= own.keys():
        return False
    between = np.array([own["blank"], own["frame"]], np.float32)
    if off_colours(np.array([colour], np.float32), between, ALIKE / 2).any():
        return False
    left, top, right, bottom = lines[0]
    beside = cv2.dilate(drawn.view(np.uint8), np.ones((3, 3), np.uint8)) > 0
    is_line = (canvas(sample).after == own["frame"]).all(axis=2) & beside
    along = is_line.any(axis=0 if top == bottom else 1)
    return bool(np.count_nonzero(along) > MOSTLY * max(right - left, bottom - top))


def _is_bar(lines: list[Box]) -> bool:
    left, top, right, bottom = lines[0]
    return len(lines) == 1 and (left == right or top == bottom)


def _fills(sample: Sample) -> set[Colour]:
    """What squares of silhouettes are filled or wiped with: whoever does may cover the lines beside them, too."""
    return {colour for name, colour in sample.style.colours().items() if name in ("blank", "filled")}


def is_maze(sample: Sample) -> bool:
    return sample.key.task.startswith("maze/")


def _makes_smaller(sample: Sample, colour: Colour) -> bool:
    """Whether a box in this colour covers the border of what carries a colour: then it is a smaller tile."""
    style = sample.style
    is_tile = sample.key.task.startswith("sudoku/") and style.text("marks") == "tile"
    return is_tile and max(abs(one - other) for one, other in zip(colour, style.colours()["cell"], strict=True)) < LOUD


def _only_thins(lines: list[Box], colour: Colour, sample: Sample) -> bool:
    """Whether these strokes, if they leave a maze's path whole, only make it thinner: strokes that nobody could tell
    from the floor do, and so does a bar of wall or grid line along its edge."""
    own = sample.style.colours()
    grounds = (own["floor"], own["wall"], own["line"]) if _is_bar(lines) else (own["floor"],)
    return any(_alike(colour, ground) for ground in grounds)


def _pieces(image: Image.Image, sample: Sample, width: int) -> int:
    """How many pieces and holes, no smaller than a stroke is wide, what has the pen's colour has."""
    paint = np.zeros((image.height, image.width), np.uint8)
    for pen in sorted(asked(sample)):
        paint |= cv2.inRange(np.asarray(image), pen, pen)
    areas = [
        cv2.connectedComponentsWithStats(mask)[2][1:, cv2.CC_STAT_AREA] for mask in (paint, cv2.bitwise_not(paint))
    ]
    return int(np.count_nonzero(np.concatenate(areas) >= width**2))


def _colours(sample: Sample) -> list[Colour]:
    """What the answer is drawn in; of a maze neither the pen's nor what its edges fade to, since nobody says how wide a
    path is."""
    after = sample.edited_picture
    counts = np.bincount(after.pixels.ravel(), minlength=len(after.palette))
    common = after.palette[counts[: len(after.palette)] > COMMON * after.pixels.size]
    colours = [(red, green, blue) for red, green, blue in common.tolist()]
    if is_maze(sample):
        pure = set(sample.style.colours().values()) - asked(sample)
        colours = [colour for colour in colours if colour in pure]
    return colours


def asked(sample: Sample) -> set[Colour]:
    """The colours that the task names."""
    own = sample.style.colours()
    named = " ".join(str(value) for name, value in sample.problem.params if name.startswith("colour"))
    return {own[name] for name in named.split() if name in own}


def compressed(image: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


ATTACKS = (scrawl,)
