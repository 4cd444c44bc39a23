"""
Restore images
==============

1797 scanned digits of 8 × 8 pixels, a square of 3 × 3 removed from each. `factorstream.images.restore_frames` tries
on pixels that are known which way fills such squares best, learns what digits look like from the damaged images
themselves, and says where it is unsure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from factorstream.images import restore_frames
from factorstream.masks import block_mask
from factorstream.metrics import coverage, rmse

images = load_digits().images
removed = block_mask(len(images), (8, 8), (3, 3), rng=0).reshape(images.shape)
restored = restore_frames(images, damage=removed)
for way, error in restored.errors.items():
    print(f"{way}: {error:.2f} on hidden pixels")

# %%
# Grey levels go from 0 to 16, and so do the fills. The mean of each pixel is what one would fill in without a model.
damaged = np.where(removed, np.nan, images)
mean = np.broadcast_to(np.nanmean(damaged, axis=0), images.shape)
print(f"error {rmse(images, restored.pixels, where=removed):.2f}, pixel means {rmse(images, mean, where=removed):.2f}")
print(f"95% intervals hold {coverage(images, restored.pixels, restored.std, where=removed):.1%}")

# %%
shown = range(10)
figure, axes = plt.subplots(4, len(shown), figsize=(9, 4))
for column, k in enumerate(shown):
    pictures = (images[k], damaged[k], restored.pixels[k], restored.std[k])
    for axis, picture, colours, top in zip(
        axes[:, column], pictures, ("gray", "gray", "gray", "magma"), (16, 16, 16, 8), strict=True
    ):
        axis.imshow(np.ma.masked_invalid(picture), cmap=colours, vmin=0, vmax=top)
        axis.set_facecolor("#D55E00")  # shows through where a pixel is missing
        axis.set(xticks=[], yticks=[])
for axis, name in zip(axes[:, 0], ("as it was", "damaged", "filled", "how unsure"), strict=True):
    axis.set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
