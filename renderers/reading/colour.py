"""Colour drift: editors warm, fade and darken. What should have stayed tells how, and the drift is undone."""

from __future__ import annotations

import numpy as np

from renderers.reading.register import Floats

ROUNDS = 4
SAMPLES = 1500
STIFFNESS = 0.02
"""How strongly the map is held at the identity, as a share of the evidence: colours that never occurred stay put."""


def undo_drift(seen: Floats, known: Floats) -> Floats:
    """`seen` (h, w, 3) with the colours it would have had: an affine map, fitted robustly to the known picture."""
    step = max(1, int((seen.shape[0] * seen.shape[1] / SAMPLES) ** 0.5))
    x = seen[::step, ::step].reshape(-1, 3) / 255
    y = known[::step, ::step].reshape(-1, 3) / 255
    design = np.concatenate([x, np.ones((len(x), 1))], axis=1)  # (N, 4)
    identity = np.eye(4, 3)
    fit = identity
    for _ in range(ROUNDS):
        gap = design @ fit - y
        error = np.einsum("ij,ij->i", gap, gap)
        scale = max(0.03, 1.48 * float(np.median(error)) ** 0.5)
        trust = (1 - np.minimum(1.0, error / (3.5 * scale) ** 2)) ** 2
        weighted = design * trust[:, None]
        hold = STIFFNESS * max(trust.sum(), 1.0) * np.eye(4)
        fit = np.linalg.solve(weighted.T @ design + hold, weighted.T @ y + hold @ identity)
    mended: Floats = (seen.reshape(-1, 3) @ fit[:3] + 255 * fit[3]).clip(-50, 305).reshape(seen.shape)
    return mended
