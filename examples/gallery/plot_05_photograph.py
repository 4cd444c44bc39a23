"""
Restore one photograph
======================

A single picture is a table too: every overlapping patch of pixels is a row, patches that look alike share a model, and
a pixel is the mean of all patches that it lies in. `factorstream.images.restore_picture` does it, in colour, and
chooses the size of the patches on pixels that it hides from itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from factorstream.images import restore_picture

photograph = load_sample_image("china.jpg")[60:220, 180:340]
rng = np.random.default_rng(0)
scratched = np.zeros((160, 160), dtype=bool)
for _ in range(14):  # scratches of 3 pixels, in any direction
    along, angle = np.arange(rng.integers(40, 120)), np.pi * rng.random()
    line, column = (rng.random((2, 1)) * 160 + np.outer([np.sin(angle), np.cos(angle)], along)).astype(int)
    for across in np.ndindex(3, 3):
        inside = (line + across[0] < 160) & (column + across[1] < 160) & (column >= 0)
        scratched[line[inside] + across[0], column[inside] + across[1]] = True
damaged = np.where(scratched[..., None], [255, 0, 255], photograph).astype(np.uint8)
restored = restore_picture(damaged, damage=(255, 0, 255))

# %%
# What was hidden for the choice are pixels that are known; what was scratched is looked at here for the first time.


def psnr(picture):
    """Peak signal-to-noise ratio over the scratched pixels, in decibels."""
    return 10 * np.log10(255**2 / np.mean((picture - photograph.astype(float))[scratched] ** 2))


for way, error in restored.errors.items():
    print(f"{way}: {20 * np.log10(255 / error):.1f} dB on hidden pixels")
print(f"{restored.n_filled} pixels by {restored.method}: {psnr(restored.pixels):.1f} dB")
error = np.abs(restored.pixels - photograph.astype(float))[scratched]
print(f"95% intervals hold {np.mean(error <= 1.96 * restored.std[scratched]):.1%}")

# %%
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2))
pictures = (damaged, restored.pixels, photograph, restored.std.mean(axis=2))
for axis, picture, title in zip(axes, pictures, ("scratched", "restored", "as it was", "how unsure"), strict=True):
    axis.imshow(picture, cmap="magma")
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
