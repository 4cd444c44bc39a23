"""Pictures and stacks of pictures in files: what Pillow reads, and NumPy's arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..extras import require

__all__ = ["PictureError", "PictureFile", "encode", "is_picture", "read_mask", "read_pictures"]

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".gif": "GIF",
    ".bmp": "BMP",
    ".webp": "WEBP",
}
"""Endings, and what Pillow calls these formats."""

SEVERAL = {"TIFF", "GIF", "PNG", "WEBP"}
"""Formats that hold several pictures."""

JPEG_QUALITY = 95
"""Pillow's documentation advises against more: files grow, and no picture gets better."""

AS_THEY_ARE = {"L", "RGB", "RGBA", "LA", "I;16", "I", "F"}
"""Pillow's modes that are arrays already; others are converted."""


class PictureError(ValueError):
    """A file that is no picture, or cannot be one; the message says what to do."""


class PictureFile(NamedTuple):
    """One picture or a stack of them, as read."""

    pixels: NDArray[Any]
    is_stack: bool
    about: dict[str, Any]
    """What is written again with the pictures: colour profile, resolution, how long each frame is shown."""

    @property
    def has_alpha(self) -> bool:
        """Whether the last channel says how transparent a pixel is."""
        return self.pixels.ndim == 3 + self.is_stack and self.pixels.shape[-1] in (2, 4)


def is_picture(path: Path) -> bool:
    """Whether the ending is one of a picture or an array."""
    return path.suffix.lower() in FORMATS or path.suffix.lower() == ".npy"


def read_pictures(path: Path) -> PictureFile:
    """Read the picture or pictures in a file.

    Parameters
    ----------
    path : pathlib.Path
        What Pillow reads (PNG, JPEG, TIFF, GIF, BMP, WebP), or NumPy's ``.npy``: (height, width) or (frames, height,
        width), channels last.

    Returns
    -------
    PictureFile
        ``file.pixels`` is the array.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "grey.npy"
    >>> np.save(path, np.zeros((20, 30), dtype=np.uint8))
    >>> file = read_pictures(path)
    >>> file.pixels.shape, file.is_stack
    ((20, 30), False)
    """
    _check_ending(path)
    try:
        if path.suffix.lower() == ".npy":
            return _read_array(path)
        return _read_picture(path)
    except FileNotFoundError:
        raise PictureError(f"{path} does not exist.") from None
    except OSError as problem:  # Pillow's errors about what is no picture are of this kind too
        why = problem.strerror or "it is no picture, or a damaged file"
        raise PictureError(f"{path} cannot be read: {why}.") from None


def read_mask(path: Path) -> NDArray[np.bool_]:
    """Read a picture that is bright where pixels are damaged: above half of what its type can hold, in any colour.

    White is 65535 in pixels of 32 bits too: older versions of Pillow read PNG of 16 bits as such.

    Parameters
    ----------
    path : pathlib.Path
        The file; in a ``.npy`` file everything above 0 is bright.

    Returns
    -------
    array of bool (height, width) or (frames, height, width)
        True where a pixel is damaged.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mask.npy"
    >>> np.save(path, np.eye(3))
    >>> read_mask(path).sum(axis=1).tolist()
    [1, 1, 1]
    """
    file = read_pictures(path)
    pixels = file.pixels[..., :-1] if file.has_alpha else file.pixels
    half = 0.0
    if pixels.dtype.kind in "iu" and path.suffix.lower() != ".npy":
        half = min(np.iinfo(pixels.dtype).max, np.iinfo(np.uint16).max) / 2
    bright: NDArray[np.bool_] = pixels > half
    return np.any(bright, axis=-1, keepdims=False) if pixels.ndim == 3 + file.is_stack else bright


def encode(pixels: NDArray[Any], target: Path, is_stack: bool, about: dict[str, Any]) -> bytes:
    """The content of a file with these pictures, in the format of its ending."""
    _check_ending(target)
    content = io.BytesIO()
    if target.suffix.lower() == ".npy":
        np.save(content, pixels, allow_pickle=False)
        return content.getvalue()
    require("PIL", extra="images")
    from PIL import Image

    kind = FORMATS[target.suffix.lower()]
    if is_stack and kind not in SEVERAL:
        raise PictureError(f"{target} can hold one picture; write several to a .tif, .gif or .npy file.")
    plain = pixels.astype(np.float32) if pixels.dtype == np.float64 else pixels
    plain = plain[..., 0] if plain.ndim == 3 + is_stack and plain.shape[-1] == 1 else plain
    options = {**about, "quality": JPEG_QUALITY} if kind == "JPEG" else dict(about)
    try:
        first, *others = [Image.fromarray(each) for each in (plain if is_stack else plain[None])]
        if "duration" in options:  # Pillow takes one for every frame, and a number for a picture alone
            options["duration"] = options["duration"][: 1 + len(others)] if others else options["duration"][0]
        if others:
            options |= {"save_all": True, "append_images": others}
        first.save(content, format=kind, **options)
    except (OSError, TypeError, ValueError):  # Pillow has no one error for modes that a format does not know
        raise PictureError(
            f"{target.suffix} cannot hold pixels of type {pixels.dtype} in {_channels(pixels, is_stack)}; write a .tif "
            "or .npy file."
        ) from None
    return content.getvalue()


def _channels(pixels: NDArray[Any], is_stack: bool) -> str:
    n = pixels.shape[-1] if pixels.ndim == 3 + is_stack else 1
    return "1 channel" if n == 1 else f"{n} channels"


def _check_ending(path: Path) -> None:
    if not is_picture(path):
        raise PictureError(f"{path} has no ending of a picture: {', '.join(FORMATS)} and .npy are known.")


def _read_array(path: Path) -> PictureFile:
    try:
        pixels = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise PictureError(f"{path} is no array of numbers; write it with numpy.save.") from None
    channels = pixels.ndim >= 3 and pixels.shape[-1] <= 4  # a picture of four columns is not what anybody has
    n_axes = pixels.ndim - channels
    if n_axes not in (2, 3):
        raise PictureError(
            f"{path} has the shape {pixels.shape}; a picture has (height, width), a stack (frames, height, width), and "
            "channels come last."
        )
    return PictureFile(pixels, n_axes == 3, {})


def _read_picture(path: Path) -> PictureFile:
    require("PIL", extra="images")
    from PIL import Image, ImageSequence

    frames, durations = [], []
    with Image.open(path) as image:
        kept = ("icc_profile", "dpi", "loop")
        about: dict[str, Any] = {name: image.info[name] for name in kept if name in image.info}
        for frame in ImageSequence.Iterator(image):
            frames.append(_as_array(_turned(frame)))
            durations.append(frame.info.get("duration", 0))
    if any(durations):
        about["duration"] = durations
    shapes = {frame.shape for frame in frames}
    if len(shapes) > 1:
        raise PictureError(f"{path} has pictures of several sizes; write each to a file of its own in a folder.")
    return PictureFile(np.stack(frames) if len(frames) > 1 else frames[0], len(frames) > 1, about)


def _turned(image: Any) -> Any:
    """The picture as it is seen: EXIF says how a camera was held."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except SyntaxError:  # Pillow's, where what should be EXIF is something else
        return image


def _as_array(image: Any) -> NDArray[Any]:
    """The pixels of one picture of Pillow's; palettes become colours."""
    if image.mode in AS_THEY_ARE:
        return np.array(image)
    if image.mode.startswith("I;16"):
        return np.array(image).astype(np.uint16)
    clear = "transparency" in image.info or image.mode in ("PA", "La", "RGBa")
    grey = image.mode in ("1", "La")
    return np.array(image.convert(("LA" if clear else "L") if grey else "RGBA" if clear else "RGB"))
