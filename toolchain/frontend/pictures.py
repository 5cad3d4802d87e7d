"""Pictures as samples."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from toolchain.errors import InputRefused
from toolchain.frontend.arrays import Array, refuse, shape_text
from toolchain.frontend.inputs import InputSpec

IMAGES = (".png", ".jpg", ".jpeg", ".bmp")
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def pixels_of(files: Sequence[Path], spec: InputSpec, stage: str) -> Iterator[Array]:
    """Each image as uint8 in the input's layout: channels first if axis 1 can count them.

    Raises:
        InputRefused: The input takes no images, or one cannot be read or has another size.
    """
    try:
        from PIL import Image
    except ImportError as error:
        hint = "pip install 'onnx2mcu[images]'"
        raise InputRefused(stage, str(files[0]), "reading images needs Pillow", hint) from error
    shape = spec.shape
    if len(shape) != 4 or (shape[1] not in _MODES and shape[3] not in _MODES):
        reason = f"an input of shape {shape_text(shape)} does not take images"
        refuse(stage, spec.name, reason, "save arrays of that shape with numpy.savez")
    first = shape[1] in _MODES
    channels, height, width = shape[1:] if first else (shape[3], shape[1], shape[2])
    for file in files:
        try:
            with Image.open(file) as image:
                size = image.size
                pixels = np.asarray(image.convert(_MODES[channels]))
        except (OSError, ValueError) as error:
            refuse(
                stage,
                str(file),
                f"the image cannot be read: {error}",
                "save it again, or leave it out",
            )
        if size != (width, height):
            reason = f"the image is {size[0]}x{size[1]}, the input takes {width}x{height}"
            refuse(stage, str(file), reason, "resize the images the way the model was trained")
        pixels = pixels.reshape(height, width, channels)
        yield pixels.transpose(2, 0, 1) if first else pixels
