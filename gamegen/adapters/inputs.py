"""What trainers hand over, made ours: ground truth to a row; tensors, batches and messages to pictures.

Tensors are known by their `detach` method, so that no tensor library is imported.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.errors import BadInput
from gamegen.images import Source

CHANNELS = (1, 3, 4)

_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,([A-Za-z0-9+/=]+)")


def row_of(truth: Mapping[str, Any] | str | bytes) -> Mapping[str, Any]:
    """The row in a ground truth that is a mapping or its JSON."""
    if isinstance(truth, Mapping):
        return truth
    try:
        row = orjson.loads(truth)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"the ground truth must be a row or its JSON, not {truth!r:.80}") from error
    if not isinstance(row, dict):
        raise BadInput(f"the ground truth must be a row, not the JSON of a {type(row).__name__}")
    return row


def picture(image: Any) -> NDArray[Any]:
    """(H, W, C) of one array or tensor, channels first or last; uint8, or floats in [0, 1]."""
    array = _array(image)
    if array.ndim == 4:
        if len(array) != 1:
            raise BadInput(f"expected one picture, got a batch of {len(array)}")
        array = array[0]
    if array.ndim != 3:
        raise BadInput(f"a picture has three axes, not the shape {array.shape}")
    if array.shape[2] not in CHANNELS and array.shape[0] in CHANNELS:
        array = array.transpose(1, 2, 0)
    return array.repeat(3, axis=2) if array.shape[2] == 1 else array


def pictures(images: Any) -> list[Source]:
    """A batch: one NCHW or NHWC array or tensor, or a sequence of arrays, tensors and PIL images."""
    if isinstance(images, (list, tuple)):
        return [image if isinstance(image, Image.Image) else picture(image) for image in images]
    batch = _array(images)
    if batch.ndim != 4:
        raise BadInput(f"a batch of pictures has four axes, not the shape {batch.shape}")
    return [picture(image) for image in batch]


def said_picture(completion: Any) -> Source | None:
    """The last picture in what a model said: an image, bytes, text with a data URL, or chat messages.

    A path or an address in a model's text is never followed: it could lead to the answer.
    """
    if isinstance(completion, (Image.Image, bytes)):
        return completion
    if isinstance(completion, np.ndarray) or hasattr(completion, "detach"):
        return picture(completion)
    if isinstance(completion, str):
        return _from_text(completion)
    if isinstance(completion, Mapping):
        return _from_mapping(completion)
    if isinstance(completion, Sequence):
        found = (said_picture(part) for part in reversed(completion))
        return next((image for image in found if image is not None), None)
    return None


def _from_mapping(part: Mapping[str, Any]) -> Source | None:
    """A chat message, or one part of its content."""
    if part.get("role", "assistant") != "assistant":
        return None
    for name in ("content", "image", "image_url", "url", "text"):
        if part.get(name) is not None:
            return said_picture(part[name])
    return None


def _from_text(text: str) -> bytes | None:
    found = _DATA_URL.findall(text)
    try:
        return base64.b64decode(found[-1], validate=True) if found else None
    except binascii.Error:
        return b""  # something was sent, and it is unreadable


def _array(image: Any) -> NDArray[Any]:
    if hasattr(image, "detach"):
        tensor = image.detach().cpu()
        image = (tensor.float() if tensor.is_floating_point() else tensor).numpy()  # numpy has no bfloat16
    array = np.asarray(image)
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise BadInput(f"pictures are uint8 or floats in [0, 1], not {array.dtype}")
    return array
