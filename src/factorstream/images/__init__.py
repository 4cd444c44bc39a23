"""Restore pictures and video: damaged pixels are filled from the rest of the picture, or from the other frames."""

from ._patches import picture_to_rows, rows_to_picture
from ._restore import Restoration, restore_frames, restore_picture

__all__ = ["Restoration", "picture_to_rows", "restore_frames", "restore_picture", "rows_to_picture"]
