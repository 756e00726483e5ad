"""Colour drift: editors warm, fade and darken. What should have stayed tells how, and the drift is undone."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import cv2
import numpy as np
from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Picture, Pixels
from renderers.reading.fit import Floats, median

ROUNDS = 4
SAMPLES = 1500
SETTLED = 2e-4
"""A round that changes the map by less, a twentieth of a grey level, is the last."""

MOSTLY, SAME = 0.8, 1.5 / 255
"""Where so many of the pixels differ by less than this, nothing has drifted."""

NO_DRIFT = 2e-3
"""A map this near to the identity moves colours by half a grey level, and is left out."""

STIFFNESS = 0.02
"""How strongly the map is held at the identity, as a share of the evidence: colours that never occurred stay put."""


FEW, KEPT = 12, 0.7
"""So few colours in all, and less than this share of those that the clean picture has, are too few to tell marks by."""

ROWS = 12
"""So many rows of a picture are looked at first, where its colours are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """An affine map from colours as seen to colours as they were."""

    fit: Floats  # (4, 3), for colours from 0 to 1

    def undo(self, seen: Floats) -> Floats:
        """Colours (…, 3) as they were; a little beyond black and white where the drift took them there."""
        if self.is_none:
            return seen
        flat = seen.reshape(-1, 1, 3) if seen.ndim != 3 else seen
        mended: Floats = np.asarray(cv2.transform(flat, self._matrix())).reshape(seen.shape)
        return mended.clip(-50, 305, out=mended)

    def mend(self, image: Pixels) -> Pixels:
        """The same for a picture (H, W, 3), in whole grey levels."""
        return image if self.is_none else np.asarray(cv2.transform(image, self._matrix()))

    @property
    def is_none(self) -> bool:
        return bool(np.abs(self.fit - _NONE).max() < NO_DRIFT)

    def _matrix(self) -> Floats:
        """(3, 4): what each colour, from 0 to 255, is made of."""
        return np.concatenate([self.fit[:3], 255 * self.fit[3:]]).T.astype(np.float32)

    def recolouring(self, seen: Floats) -> float:
        """How far, on average, it moves colours of this picture other than along the greys: 0 to about 200."""
        if self.is_none:
            return 0.0
        few = _few(seen)
        moved = np.ascontiguousarray((self.undo(few.T) - few.T).T)
        moved -= moved.mean(axis=0)
        return float(np.sqrt((moved * moved).sum(axis=0)).mean())


_NONE = np.eye(4, 3)
STEADY = Drift(_NONE)
"""No drift at all."""

_HOLD = np.concatenate([np.eye(4), _NONE], axis=1)


def drift_between(seen: Floats, known: Floats) -> Drift:
    """The drift of a picture (h, w, 3) whose unedited form is known: fitted robustly, so that edits do not count."""
    x, y = _few(seen) / 255, _few(known) / 255
    fit = _NONE
    if np.count_nonzero(np.abs(x - y) < SAME) > MOSTLY * x.size:
        return STEADY
    both = np.concatenate([x, np.ones((1, x.shape[1])), y])  # (7, N)
    design = both[:4]
    for _ in range(ROUNDS):
        gap = fit.T @ design - y
        error = np.einsum("ij,ij->j", gap, gap)
        scale = max(0.03, 1.48 * median(error) ** 0.5)
        trust = (1 - np.minimum(1.0, error / (3.5 * scale) ** 2)) ** 2
        normal = (design * trust) @ both.T  # (4, 7)
        normal += STIFFNESS * max(float(trust.sum()), 1.0) * _HOLD
        before, fit = fit, np.asarray(cv2.solve(normal[:, :4], normal[:, 4:], flags=cv2.DECOMP_LU)[1])
        if np.abs(fit - before).max() < SETTLED:
            break
    return Drift(fit)


def _few(picture: Floats) -> Floats:
    """(3, N): pixels from all over a picture (h, w, 3), in no step with its columns, which may be grid lines."""
    high, wide = picture.shape[:2]
    step = max(1, high * wide // SAMPLES)
    while gcd(step, wide) > 1:
        step += 1
    return np.ascontiguousarray(picture.reshape(-1, 3)[::step].T)


def demand_colours(image: Pixels, given: Picture) -> None:
    """Raise UnreadableImage if a picture was reduced to so few colours that marks of several may have become one."""
    some = np.ascontiguousarray(image[:: max(1, len(image) // ROWS)])
    if Image.fromarray(some).getcolors(FEW) is None:
        return  # as nearly always: a few rows have more colours than that
    found = Image.fromarray(image).getcolors(FEW)
    if found is not None and len(found) < KEPT * np.count_nonzero(np.bincount(given.pixels.ravel())):
        raise UnreadableImage(f"only {len(found)} colours are left: marks of different colours may look the same")
