"""Pictures that once fooled the judge, or that it once refused by mistake: one of each class."""

from __future__ import annotations

from itertools import product

import pytest
from PIL import Image, ImageDraw

from gamegen.adversary import ATTACKS
from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.painters import paint, right_answer
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.registry import games, plugin
from gamegen.sample import make_sample


@pytest.mark.parametrize(
    "name", ["wordsearch/find@1:train:1:0:0", "wordsearch/find-all@1:train:5:0:0", "chess/attacks@1:train:3:0:0"]
)
def test_frames_through_which_the_ground_shows_are_no_frames(name: str) -> None:
    """Half-transparent highlights were taken for thin ones."""
    sample = make_sample(name)
    assert not verify(sample, Image.blend(sample.original, sample.edited, 0.5)).correct
    for perturbation in ("jpeg", "blur", "tone"):
        image = PERTURBATIONS[perturbation](sample.edited, MODERATE[perturbation], Stream("test"))
        assert verify(sample, image).correct, perturbation


def test_a_frame_hides_no_letter() -> None:
    """A frame that touched the bar of a T was wiped off with the bar, and an I was read."""
    sample = make_sample("wordsearch/find@1:train:5:3:14")
    assert verify(sample, sample.edited).correct


def test_a_picture_without_detail_hides_no_stroke() -> None:
    """Enlarged from 32 pixels a right answer was taken for a scribble; a stroke drawn on it is sharp, and is seen."""
    sample = make_sample(Key("tictactoe/best", level=1, skin="dark", pixels=256))
    small = sample.edited.resize((32, 32), Image.Resampling.BOX)
    image = small.resize((256, 256), Image.Resampling.BICUBIC)
    assert verify(sample, image).correct
    ImageDraw.Draw(image).line([(30, 40), (240, 230)], fill=(255, 255, 0), width=4)
    assert not verify(sample, image).correct


@pytest.mark.parametrize(
    ("attack", "name", "number"),
    [
        ("ghost_stroke", "tictactoe/best@1:train:3:7000000:0", 50),  # a thin line over a cell drawn anew
        ("ghost_stroke", "jewel2/best@1:train:1:7000000:0", 1),  # a thin line in the margin
        ("wrong_label", "sudoku/solve@1:train:1:7000000:0", 10),  # a 6 in place of a 3
        ("wiped_label", "tictactoe/best@1:train:1:0:0", 22),
        ("boast", "wordsearch/find-all@1:train:1:7000000:0", 7),  # a word written over highlighted cells
        ("double_exposure", "wordsearch/find-all@1:train:1:515000000:1", 118),  # half the tail of a Q, in a border
        ("scrawl", "maze/path@1:train:1:70000000049:0?pixels=256", 148),  # a red streak in a pink path, through JPEG
        ("adversarial_noise", "wordsearch/find-all@1:train:5:70000000047:0?pixels=256", 182),  # a T in tinted ink
        ("double_exposure", "wordsearch/find@1:train:5:88202000000:0", 145),  # an E that is half a B
        ("double_exposure", "wordsearch/find@1:train:1:7000000:0", 20),  # two letters in one cell
        ("double_exposure", "maze/path@1:train:1:7000000:0", 20),  # a see-through piece of a path
        ("double_exposure", "chess/move@1:train:1:7000000:0", 20),  # a faint highlight
        ("double_exposure", "sudoku/solve@1:train:1:51000000:0?pixels=256", 14),  # a 1 and a 3 in one cell
        ("double_exposure", "sudoku/solve@1:train:1:51000000:0?pixels=256", 18),  # a given half wiped out
        ("double_exposure", "jewel2/swap@1:train:4:51000000:0?pixels=256", 110),  # a ghost of a stone
        ("double_exposure", "pacman/sweep@1:train:3:51000000:0?pixels=256", 66),  # half a wall
        ("double_exposure", "sokoban/solve@1:train:3:51000000:0?pixels=256", 66),  # a box of two kinds
        ("blot", "sudoku/solve@1:train:2:51000000:0?pixels=256", 52),  # between two digits that were written anew
        ("ghost_stroke", "sudoku/next@1:train:1:51000000:0?pixels=256", 8),  # through a digit written anew
        ("ghost_stroke", "sudoku/solve@1:train:1:9100000000000:0?pixels=256", 22),  # a black line on coloured discs
        ("ghost_stroke", "spaceinvaders/volley@1:train:2:51000000:0?pixels=256", 48),  # magenta on a grey grid line
        ("wrong_label", "chess/mate@1:train:1:51000000:0?pixels=256", 3),  # a small e in place of an a
        ("wrong_label", "pacman/route@1:train:2:21000000:0", 84),  # an E in place of an F
        ("wrong_label", "wordsearch/find@1:train:2:101000001:0?pixels=256", 114),  # the same in pale ink
        ("ghost_stroke", "reconstruction/project@1:train:4:101000000:0?pixels=256", 202),  # white, as labels are
        ("ghost_stroke", "sudoku/solve@1:train:2:3000000:1?pixels=256", 133),  # short, over two digits written anew
        ("boast", "sudoku/solve@1:train:2:102000001:0?pixels=256", 107),  # in white on cells coloured anew
        ("adversarial_noise", "sudoku/next@1:train:3:101000001:0?pixels=256", 149),  # the shadow of a given
        ("other_skin", "sudoku/solve@1:train:3:102000000:0?pixels=256", 163),
        ("other_skin", "sudoku/next@1:train:2:7305000009:0?pixels=256", 155),  # tiles where cells were filled
        ("ghost_stroke", "sudoku/solve@1:train:1:7001000008:0?pixels=256", 206),  # along a given's edge, by a new cell
        ("ghost_stroke", "tictactoe/best@1:train:2:3000000025:0?pixels=256", 135),  # on a line of a cell drawn anew
        ("ghost_stroke", "tictactoe/best@1:train:1:3000000040:0?pixels=256", 22),  # beside a cell drawn anew
        ("ghost_stroke", "spaceinvaders/volley@1:train:5:3000000011:0?pixels=256", 277),  # on the board's outer line
        ("ghost_stroke", "wordsearch/find@1:train:3:883000001000019:0?pixels=256", 271),  # cyan along green borders
        ("ghost_stroke", "jewel2/swap@1:train:4:5000000004:0?pixels=256", 348),  # yellow over stones laid anew
        ("ghost_stroke", "jewel2/swap@1:train:1:5000000017:0?pixels=256", 256),  # where a stone of its colour was
        ("ghost_stroke", "jewel2/swap@1:train:2:5000000026:0?pixels=256", 64),  # in a stone's colour, beside two others
        ("blot", "jewel2/swap@1:train:1:5000000000:1?pixels=256", 376),  # on the corners of four cells
        ("double_exposure", "chess/attacks@1:train:5:3100000007:0?pixels=256", 170),  # a king's ghost among highlights
        ("double_exposure", "maze/shortest@1:train:5:2027000004:0?pixels=256", 28),  # the end, half faded
        ("adversarial_noise", "maze/path@1:train:5:2027000009:0?pixels=256", 29),  # a wall's corner, paler
        ("ghost_stroke", "maze/shortest@1:train:1:7001000009:0?pixels=256", 135),  # along the whole of a path
        ("ghost_stroke", "maze/path@1:train:1:9000000012:0?pixels=256", 271),  # on the walls' edge, beside a path
        ("murky_mutation", "sokoban/solve@1:train:5:7001000007:0?pixels=256", 202),  # a target behind the player
        ("murky_mutation", "sokoban/solve@1:train:5:50000000093:0?pixels=256", 126),  # the same, all but grey
        (
            "adversarial_noise",
            "sokoban/solve@1:train:5:9000000040:0?pixels=256",
            313,
        ),  # a wall, lit as a box is
        ("double_exposure", "sokoban/push@1:train:4:7001000011:0?pixels=256", 203),  # the floor, through the player
        ("double_exposure", "sokoban/solve@1:train:1:7001000024:0?pixels=256", 132),  # the player, through a box
        ("double_exposure", "wordsearch/find@1:train:5:6000000013:0?pixels=256", 99),  # half the tail of a small Q
        ("double_exposure", "wordsearch/find-all@1:train:5:7001000011:0?pixels=256", 241),  # half an S in a framed O
        ("adversarial_noise", "wordsearch/find-all@1:train:4:6000000036:0?pixels=256", 192),  # a framed W is an S
        ("adversarial_noise", "wordsearch/find-all@1:train:4:9000000137:0?pixels=256", 100),  # four pixels of a small G
        ("murky_mutation", "wordsearch/find-all@1:train:5:6000000033:0?pixels=256", 136),  # a framed G is a Q, enlarged
        (
            "murky_mutation",
            "wordsearch/find@1:train:4:7001000007:0?pixels=256",
            136,
        ),  # a framed T is an H, made small
        ("collage", "chess/mate@1:train:2:9000000019:0?pixels=256", 156),  # the upper half of a move not made
        ("double_exposure", "chess/attacks@1:train:5:6000000011:0?pixels=256", 274),  # one highlight paler than others
        ("double_exposure", "chess/attacks@1:train:4:6000000013:0?pixels=256", 28),  # two men in a highlighted square
        ("double_exposure", "chess/attacks@1:train:5:7590000002:0?pixels=256", 191),  # one of many orange ones half red
        ("scrawl", "tictactoe/best@1:train:1:41000000000:1?pixels=256", 151),  # an X under a cross in O's ink
        ("scrawl", "tictactoe/best@1:train:1:42000000001:0", 108),  # a bar of the page's colour cuts an O in two
        ("scrawl", "pacman/sweep@1:train:1:9900:30?pixels=256", 6),  # a Pac-Man under a cross, taken for a larger one
        ("scrawl", "pacman/sweep@1:train:1:9200:65?pixels=256", 3),
        ("scrawl", "spaceinvaders/best@1:train:3:9200:117?pixels=256", 15),  # a ship cut in two
        ("scrawl", "chess/move@1:train:4:600310:0?pixels=256", 13),  # a king cut in two
        ("scrawl", "maze/path@1:train:1:50000000006:0?pixels=256", 353),  # a red bar along a pink path, through JPEG
        ("scrawl", "sokoban/solve@1:train:3:9200:27?pixels=256", 10),  # a box whose rim became blue, through JPEG
        ("scrawl", "sokoban/solve@1:train:3:9900:37?pixels=256", 6),  # a box that is struck through
        ("scrawl", "spaceinvaders/volley@1:train:3:9900:12?pixels=256", 9),  # an invader behind a bar
        ("scrawl", "spaceinvaders/shoot@1:train:1:9900:45?pixels=256", 17),
        (
            "scrawl",
            "spaceinvaders/shoot@1:train:2:50000000024:0?pixels=256",
            214,
        ),  # a ship without a belly, a smaller one
        ("scrawl", "spaceinvaders/volley@1:train:1:7102:10?pixels=256", 4),
        ("scrawl", "sokoban/push@1:train:4:50000000062:0?pixels=256", 103),  # a brown frame on a green box
        ("scrawl", "wordsearch/find@1:train:1:5:0", 4),  # a bar in the border's own colour, through a letter
        ("scrawl", "wordsearch/find@1:train:2:5:0", 10),  # in the letters' ink
        ("scrawl", "wordsearch/find@1:train:5:5:0", 7),
        ("scrawl", "wordsearch/find-all@1:train:1:5:0", 7),  # a box in the ground's colour, along a border
        ("scrawl", "wordsearch/find-all@1:train:4:5:0", 0),
        ("scrawl", "wordsearch/find@1:train:2:5:0?pixels=256", 1),
        ("scrawl", "wordsearch/find@1:train:4:15000000000:2", 342),  # a grey box over a purple border, quite as light
        ("scrawl", "wordsearch/find@1:train:3:15000000001:3", 420),  # a box over half of a border's width, compressed
        ("scrawl", "wordsearch/find@1:train:2:72000000000:2", 292),  # the same in the grid lines' colour
        ("scrawl", "wordsearch/find@1:train:5:82000000000:3", 498),  # a grey bar as dark as a part of a red border
        ("scrawl", "chess/attacks@1:train:2:5:0", 6),
        ("scrawl", "chess/attacks@1:train:5:5:0", 2),
        ("scrawl", "chess/attacks@1:train:5:21:0", 8),  # in the border's own colour, on an empty square
        ("scrawl", "chess/attacks@1:train:4:81000000000:2", 338),  # the same, a thin diagonal through JPEG
        ("scrawl", "chess/attacks@1:train:4:81000000000:1", 210),  # a box inside of a border
        ("scrawl", "chess/attacks@1:train:5:16000000000:3", 515),
        ("scrawl", "chess/attacks@1:train:2:91000000000:5", 529),
        ("scrawl", "chess/move@1:train:2:5:0", 0),
        ("scrawl", "sokoban/push@1:train:2:5:0", 3),
        ("scrawl", "jewel2/swap@1:train:2:5:0", 2),
        ("scrawl", "pacman/sweep@1:train:2:5:0", 10),
        ("scrawl", "spaceinvaders/shoot@1:train:2:5:0", 9),
        ("scrawl", "maze/path@1:train:1:31000000000:0?pixels=256", 49),  # along a path's edge, compressed
        ("scrawl", "maze/shortest@1:train:1:71001000001:0?pixels=256", 125),  # in the floor's colour, a sliver is left
        ("scrawl", "maze/shortest@1:train:1:500041:0?pixels=256", 3),  # a cross nearly in the floor's: two pieces
        ("scrawl", "maze/path@1:train:1:500144:0?pixels=256", 9),  # the same, compressed
        ("scrawl", "maze/path@1:train:1:500160:0?pixels=256", 8),  # red on orange, compressed
        ("scrawl", "maze/path@1:train:1:500208:0?pixels=256", 9),  # red along half of a pink path
        ("scrawl", "maze/shortest@1:train:1:500009:0?pixels=256", 2),  # between a thin path and its end
        ("scrawl", "pacman/sweep@1:train:1:9200:10?pixels=256", 10),  # along the edge of Pac-Man, in his own colour
        ("scrawl", "pacman/sweep@1:train:1:9200:20?pixels=256", 0),  # through JPEG
        ("scrawl", "spaceinvaders/volley@1:train:2:9200:26?pixels=256", 7),  # across an invader's legs
        ("scrawl", "sokoban/push@1:train:4:501000000000:1?pixels=256", 171),  # across a keeper
        ("scrawl", "sokoban/push@1:train:1:9200:60?pixels=256", 12),  # a bar of wall on a box
        ("blot", "sudoku/solve@1:train:1:14000000013:0?pixels=256", 211),  # a second ink over half of a new digit
        ("adversarial_noise", "wordsearch/find-all@1:train:4:14000000001:0?pixels=256", 204),  # a G for an O, paled
        ("ghost_stroke", "jewel2/swap@1:train:2:12000000010:0?pixels=256", 98),  # along the edge of a new stone
        ("scrawl", "sudoku/next@1:train:3:15500:1", 6),  # a brown box at the edge of a red tile
        ("scrawl", "reconstruction/project@1:train:3:15100:8", 11),  # a bar along a line, in the line's own colour
        ("scrawl", "reconstruction/project@1:train:4:15100:1", 14),  # in what was there before, over a line
        ("scrawl", "reconstruction/project@1:train:1:15000000001:0", 117),  # in a colour between its neighbours'
        ("scrawl", "reconstruction/project@1:train:1:15100:5", 6),  # the same through JPEG
        ("scrawl", "reconstruction/project@1:train:4:15100:4", 18),  # in what was there before, along a whole side
        ("scrawl", "reconstruction/project@1:train:1:30100:7", 719),  # the same, along half a side
        ("scrawl", "reconstruction/voxel@1:train:3:30200:5", 547),  # in another colour, over a line and beside it
        ("scrawl", "reconstruction/voxel@1:train:4:30100:6", 662),  # the same through JPEG
        ("scrawl", "reconstruction/project@1:train:1:4100:12", 0),  # a box that seemed to be noise
        ("scrawl", "reconstruction/project@1:train:1:15100:6", 16),  # along a wide line, through JPEG
        ("scrawl", "reconstruction/voxel@1:train:3:15100:7", 16),
        ("scrawl", "reconstruction/voxel@1:train:5:15100:0", 9),  # along the edges of cubes
        ("scrawl", "reconstruction/voxel@1:train:4:30200:1", 168),
        ("scrawl", "reconstruction/voxel@1:train:3:30100:3", 343),  # from cube to cube, through JPEG
        ("scrawl", "reconstruction/voxel@1:train:5:30100:1", 198),  # in a third colour on a thin line, through JPEG
        ("scrawl", "reconstruction/project@1:train:5:30300:1", 191),
        ("scrawl", "reconstruction/project@1:train:1:30100:0", 15),
        ("scrawl", "reconstruction/voxel@1:train:1:4100:5", 0),  # hidden by the dark of an edge, through JPEG
        ("scrawl", "reconstruction/project@1:train:3:30500:4", 454),  # where compression tints the lines
        ("scrawl", "reconstruction/project@1:train:5:61200000000:1", 251),  # in its colour on a thin line, through JPEG
        ("scrawl", "reconstruction/project@1:train:1:61200000002:3", 364),  # a box of which most is beside the square
        ("scrawl", "reconstruction/project@1:train:4:61200000002:4", 432),  # along two sides of a square at once
        ("scrawl", "reconstruction/project@1:train:4:92900000000:0?pixels=256", 74),  # across small squares
        ("scrawl", "reconstruction/project@1:train:5:92900000000:3?pixels=256", 386),  # a plus in the lines' colour
        ("scrawl", "jewel2/best@1:train:1:18000000001:2", 379),  # a grey line through an emptied cell, through JPEG
        ("scrawl", "sudoku/next@1:train:1:80000000031:0?pixels=256", 372),  # the left of a 5 hidden, but for crumbs
        ("double_exposure", "wordsearch/find-all@1:train:2:80000000012:0?pixels=256", 355),  # orange turned red by half
        ("scrawl", "reconstruction/project@1:train:3:70000000056:0?pixels=256", 103),  # along a line, through JPEG
        ("scrawl", "reconstruction/project@1:train:2:70000000083:0?pixels=256", 290),  # half of it beside a silhouette
        ("scrawl", "reconstruction/project@1:train:4:1107:8?pixels=256", 40),  # a diagonal in a pale colour
        ("scrawl", "reconstruction/voxel@1:train:2:70000000113:0?pixels=256", 300),  # over the tip of a cube
        ("scrawl", "reconstruction/project@1:train:4:3003:1?pixels=256", 114),  # the middle of half the new squares
        ("scrawl", "reconstruction/project@1:train:5:3004:4?pixels=256", 406),  # as if it were blurred
        ("scrawl", "reconstruction/project@1:train:1:92900:2?pixels=256", 204),  # beside a silhouette
        ("scrawl", "reconstruction/project@1:train:3:92800000002:0", 11),  # a box inside of a square
        ("scrawl", "reconstruction/voxel@1:train:1:92900:9?pixels=256", 903),  # along the edge of a small cube
        ("scrawl", "reconstruction/voxel@1:train:3:92900:3?pixels=256", 355),
        ("scrawl", "reconstruction/project@1:train:5:2057:4?pixels=256", 40),  # most of all new squares hidden by it
        ("scrawl", "reconstruction/project@1:train:1:2052:0?pixels=256", 45),  # pale, along a line, through JPEG
        ("scrawl", "maze/shortest@1:train:1:18000000001:3", 500),  # a cross leaves but a small piece behind it
        ("scrawl", "pacman/route@1:train:5:18000000000:0", 123),  # along a diagonal that is nearly his own
        ("ghost_stroke", "sudoku/solve@1:train:1:90000000004:0?pixels=256", 102),  # along two new cells and two given
        ("double_exposure", "chess/move@1:train:2:90000000002:0?pixels=256", 350),  # half of him who took a man
        ("scrawl", "wordsearch/find@1:train:1:19000000001:1", 251),  # in the border's colour, through a large letter
        ("scrawl", "pacman/route@1:train:2:90000000001:0?pixels=256", 76),  # in his own colour, corner to corner
        (
            "cloned_cell",
            "maze/path@1:train:4:110000000008:0?pixels=256",
            38,
        ),  # a second start, pale as edges
        ("scrawl", "wordsearch/find@1:train:5:21000000000:0", 77),  # a thin diagonal in a fine grid
        ("bent", "spaceinvaders/volley@1:train:1:90000000006:0?pixels=256", 371),  # a bar on the ship
        ("wrong_label", "wordsearch/find@1:train:5:150000000010:0?pixels=256", 360),  # a small 19 is a 10
        ("murky_clone", "sudoku/solve@1:train:5:600000000043:0?pixels=256", 124),  # a 1, taken for a 9 by hand, halved
        ("murky_clone", "maze/path@1:train:4:150000000017:0?pixels=256", 153),  # a dot of path on the floor, sharpened
        ("bent", "sokoban/push@1:train:2:120000000005:0?pixels=256", 159),  # a box with a rim of wall, a smaller one
        ("bent", "reconstruction/project@1:train:3:42000000:1?pixels=256", 116),  # a plus along two lines
        ("bent", "pacman/sweep@1:train:1:310000000055:0?pixels=256", 54),  # a yellow bar from corner to corner
        ("scrawl", "reconstruction/voxel@1:train:3:310000000091:0?pixels=256", 115),  # a pale bar, through JPEG
        ("scrawl", "reconstruction/voxel@1:train:3:600000000021:0?pixels=256", 121),  # brown, along an edge of cubes
        ("scrawl", "sokoban/solve@1:train:3:310000000034:0?pixels=256", 330),  # a small green box in a frame of wall
        ("scrawl", "sudoku/solve@1:train:1:310000000028:0?pixels=256", 251),  # purple through blue, through JPEG
        ("scrawl", "jewel2/best@1:train:1:23000000000:1", 123),  # a cross on a corner that was emptied, through JPEG
        ("bent", "jewel2/best@1:train:1:330000000008:0?pixels=256", 46),  # CORRECT on it, in a picture that was moved
        ("murky_exposure", "wordsearch/find@1:train:2:88000:16?pixels=256", 0),  # a B that is half an E, in a crop
        ("murky_exposure", "wordsearch/find-all@1:train:4:88000:53?pixels=256", 2),  # a P that is half a T, enlarged
        ("murky_exposure", "wordsearch/find@1:train:3:88000:42?pixels=256", 2),  # half a highlight, through JPEG
        ("bent", "wordsearch/find@1:train:3:173000000002:0?pixels=256", 53),  # half a letter wiped out, in a bent page
        ("murky_exposure", "sudoku/next@1:train:2:88000:41?pixels=256", 2),  # a given 5 that is half a 6, through JPEG
        ("murky_exposure", "sudoku/solve@1:train:3:88000:142?pixels=256", 2),  # a new 9 that is half a 5, in a crop
        ("murky_exposure", "sokoban/push@1:train:2:88000:26?pixels=256", 0),  # half a target under the player
        ("murky_exposure", "sokoban/push@1:train:5:88000:104?pixels=256", 0),  # a wall that is half a target
        ("murky_exposure", "chess/mate@1:train:3:88000:202?pixels=256", 2),  # half a man on a square as dark
        ("murky_exposure", "pacman/sweep@1:train:4:88000:8?pixels=256", 2),  # half of something on a wall
        ("murky_exposure", "spaceinvaders/best@1:train:2:88000:11?pixels=256", 0),  # an invader that is half another
    ],
)
def test_what_fooled_the_judge_once(attack: str, name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None and not made[1]
    assert not verify(sample, made[0]).correct


def test_the_colours_of_small_borders_are_smeared() -> None:
    """Between others at 256 pixels, one seemed to lack half of its colour."""
    sample = make_sample("wordsearch/find-all@1:train:5:94000000000:0?pixels=256")
    assert verify(sample, sample.edited).correct


def test_the_tail_of_a_small_q_is_seen() -> None:
    """At 256 pixels the tail lies where borders go, and an O that became a Q was taken for an O."""
    sample = make_sample("wordsearch/find-all@1:train:5:5000011:0?pixels=256")
    assert verify(sample, sample.edited).correct
    changed = sample.plugin.game.mutate(sample.solution.after, Stream(sample.id, "attack", 67))
    assert not verify(sample, sample.plugin.renderer.render(changed, sample.style).image()).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("wordsearch/find-all@1:train:1:6000000000:0?pixels=256", 66),  # thin borders, paler than the colour in them
        ("wordsearch/find-all@1:train:5:7100000003:1?pixels=256", 105),  # the soft edge of one on the corner of a D
        ("wordsearch/find-all@1:train:4:9000000030:0?pixels=256", 214),  # borders beside ours; the first at the edge
        ("wordsearch/find-all@1:train:4:9000000030:0?pixels=256", 281),
        ("wordsearch/find-all@1:train:5:9000000082:0?pixels=256", 208),  # one border thinner than its neighbours
        ("wordsearch/find-all@1:train:5:9000000113:0?pixels=256", 101),  # borders on grid lines, which tint them
        ("wordsearch/find@1:train:2:310000000006:0?pixels=256", 1),  # a border that trembles two pixels inwards
        ("wordsearch/find-all@1:train:2:33:1", 0),  # thin borders that lie between pixels
        ("wordsearch/find-all@1:train:3:71000000001:1", 178),  # thin vivid borders, whose colour is smeared
        ("sudoku/solve@1:train:3:70000000008:0?pixels=256", 357),  # the soft edge of a colour leans over a given one
        ("sudoku/next@1:train:2:150000000126:0?pixels=256", 71),  # a thin digit, of which hardly a pixel is all ink
        ("sudoku/solve@1:train:3:180000000011:0?pixels=256", 167),  # a 7 whose bar trembles down, a row of pixels
        ("sudoku/solve@1:train:4:70000000130:0?pixels=256", 298),  # a small disc with soft edges
        ("chess/attacks@1:train:5:21:1", 1),  # the edge of a border on that of a man
        ("chess/attacks@1:train:5:150000000039:0?pixels=256", 1),  # one that lets a man's dark foot show through
        ("maze/shortest@1:train:2:71001000001:0?pixels=256", 1),  # a notch in the bend of a soft line
        ("maze/shortest@1:train:4:150000000072:0?pixels=256", 161),  # soft lines, stronger in their very middle
        ("jewel2/swap@1:train:4:7003000000:0?pixels=256", 214),  # a small bomb, beside its place
        (
            "jewel2/best@1:train:1:9000000053:0?pixels=256",
            204,
        ),  # stones wiped off, which seemed a drift of colours
        ("jewel2/best@1:train:4:21000000000:1", 140),  # a large stone, beside its place
        ("chess/move@1:train:5:234000000000:0", 103),  # a dark knight cut out with a wide pale seam
        ("spaceinvaders/volley@1:train:3:110000000000:0?pixels=256", 228),  # a patch that ends on a grid line
        ("sokoban/solve@1:train:2:21000000000:3", 286),  # a large box, beside its place
        ("spaceinvaders/shoot@1:train:3:92000000000:1", 124),  # a ship that brought a star along
        ("sokoban/solve@1:train:4:330000000012:2?pixels=256", 200),  # a box high on its pad, which is orange
        ("reconstruction/voxel@1:train:2:330000000005:3?pixels=256", 299),  # a square with an uneven corner
        ("sokoban/push@1:train:3:9100:17?pixels=256", 2),  # a keeper who brought some floor along, on a target
        ("tictactoe/best@1:train:3:7003000062:1?pixels=256", 356),  # a thin ring, beside its place
        ("maze/path@1:train:1:22000000000:0", 19),  # a trembling line, with a notch where it ends in a sign
        ("tictactoe/best@1:train:5:600000000022:0?pixels=256", 271),  # thin crosses of a hand that trembles
        ("tictactoe/best@1:train:4:600000000088:0?pixels=256", 88),
        ("tictactoe/best@1:train:4:700000000000:0?pixels=256", 360),
        ("tictactoe/best@1:train:4:730000000007:1?pixels=256", 203),
        ("spaceinvaders/volley@1:train:3:730000000000:1?pixels=256", 225),  # large ones beside cells that they left
        ("sokoban/push@1:train:3:50000000000:0?pixels=256", 183),  # a keeper who hides most of a target
        ("sokoban/push@1:train:3:9600:2?pixels=256", 1),
        ("spaceinvaders/volley@1:train:5:50000000030:0?pixels=256", 374),  # small invaders half a pixel off
        ("maze/shortest@1:train:1:50000000001:0?pixels=256", 379),  # a trembling line that ends in a sign
        ("maze/path@1:train:2:50000000017:0?pixels=256", 335),
        ("reconstruction/voxel@1:train:3:61200000000:2", 321),  # lines nearly in the hand's shade
        ("reconstruction/project@1:train:5:61200000001:0", 85),
        ("reconstruction/project@1:train:1:3005:3?pixels=256", 413),  # white rims beside lines that are nearly white
        ("reconstruction/voxel@1:train:5:33000000:0", 111),  # the trace of an edge of the cube that was taken off
    ],
)
def test_painted_answers_that_were_refused_once(name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and made[1]
    verdict = verify(sample, made[0])
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("spaceinvaders/volley@1:train:2:4242:4", "jpeg"),  # waves that only show on invaders
        ("spaceinvaders/volley@1:train:2:4242:4", "webp"),
        ("spaceinvaders/volley@1:train:2:4242:4", "sharpen"),  # eyes that became darker than any colour of theirs
        ("spaceinvaders/volley@1:train:3:4242:22", "resize"),
        ("spaceinvaders/volley@1:train:3:4242:7", "blur"),  # a row of legs that became a bar
    ],
)
def test_painted_answers_that_were_refused_once_they_were_changed(name: str, perturbation: str) -> None:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    image = paint(sample, right_answer(sample, rng), rng, strength=0.5)
    assert image is not None
    verdict = verify(sample, PERTURBATIONS[perturbation](image, MODERATE[perturbation], rng))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    "name", ["reconstruction/project@1:train:1:4242:15", "reconstruction/project@1:train:4:4242:48"]
)
def test_a_page_that_was_tilted_a_little_lies_otherwise(name: str) -> None:
    """Its middle lay where it was, which was taken for enough, and squares filled by hand lay beside their lines."""
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    image = paint(sample, right_answer(sample, rng), rng, strength=0.5)
    assert image is not None
    verdict = verify(sample, PERTURBATIONS["perspective"](image, 0.25, rng))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("wordsearch/find@1:train:4:2029:6", "perspective"),  # two corners of four lay where they were
        ("sudoku/solve@1:train:5:2029:8", "gamma"),  # the edge of a colour, mixed with a line, became another one
        ("reconstruction/project@1:train:4:2029:6", "sharpen"),  # diagonals of what sharpening left
    ],
)
def test_right_answers_that_were_refused_once_they_were_changed(name: str, perturbation: str) -> None:
    sample = make_sample(name)
    image = PERTURBATIONS[perturbation](sample.edited, MODERATE[perturbation], sample.key.stream("reading"))
    verdict = verify(sample, image)
    assert verdict.correct, verdict.reason


def test_a_keeper_may_hide_all_of_his_target() -> None:
    """A plain keeper where a target was is right by the rules, and was refused as a stained one."""
    sample = make_sample("sokoban/push@1:train:2:50000000045:0?pixels=256")
    made = ATTACKS["mutation"](sample, Stream(sample.id, "attack", 78))
    assert made is not None and made[1]
    assert verify(sample, made[0]).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [("sokoban/push@1:train:5:241000000000:2", 264), ("sokoban/push@1:train:3:241000000000:2?pixels=256", 232)],
)
def test_a_keeper_may_hide_half_of_his_target(name: str, number: int) -> None:
    """One cut out with some of his old floor, and laid onto a target, was taken for two keepers, half of each."""
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and made[1]
    assert verify(sample, made[0]).correct


@pytest.mark.parametrize("game", games())
def test_pale_strokes_beside_the_answer(game: str) -> None:
    """In pictures that were not even compressed, one in six strokes by less than 60 grey levels once passed."""
    for level, number in product((1, 3, 4), range(20)):
        sample = make_sample(Key(f"{game}/{plugin(game).game.tasks[0].kind}", level=level, seed=400))
        made = ATTACKS["pale_stroke"](sample, Stream(sample.id, "attack", number))
        assert made is None or not verify(sample, made[0]).correct, (sample.id, number)


@pytest.mark.parametrize(
    ("name", "number"),
    [("maze/path@1:train:5:300000000001:0?pixels=256", 309), ("maze/path@1:train:5:238000000000:0?pixels=256", 73)],
)
def test_pale_strokes_on_walls_between_paths(name: str, number: int) -> None:
    """Too near to paths to be away from them, and too far to lie on them."""
    sample = make_sample(name)
    made = ATTACKS["pale_stroke"](sample, Stream(sample.id, "attack", number))
    assert made is not None and not verify(sample, made[0]).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("chess/attacks@1:train:5:400000000023:0?pixels=256", 154),
        ("chess/attacks@1:train:4:400000000068:0?pixels=256", 23),
        ("chess/attacks@1:train:4:400000000068:0?pixels=256", 67),
    ],
)
def test_pale_strokes_on_dark_boards(name: str, number: int) -> None:
    """Rounding made greys of what was given that no picture has, so dark boards were never just where they lay."""
    sample = make_sample(name)
    made = ATTACKS["pale_stroke"](sample, Stream(sample.id, "attack", number))
    assert made is not None and not verify(sample, made[0]).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("maze/path@1:train:1:400000000024:0?pixels=256", 141),  # floor over a part of the start
        ("maze/path@1:train:1:400000000088:0?pixels=256", 252),  # a yellow blot on the white start of an orange path
    ],
)
def test_marred_ends_of_bent_mazes(name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS["bent"](sample, Stream(sample.id, "attack", number))
    assert made is not None and not verify(sample, made[0]).correct
