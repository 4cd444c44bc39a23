"""
Restore one photograph
======================

A single picture is a table too: every overlapping patch of 8 × 8 pixels is a row. Half of the pixels are removed;
each is filled in by all the patches that it lies in, and their mean is taken.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.datasets import load_sample_image

from factorstream import BayesianFactorization

photograph = load_sample_image("china.jpg")[60:316, 180:436].mean(axis=2)  # grey levels
removed = np.random.default_rng(0).random(photograph.shape) < 0.5
damaged = np.where(removed, np.nan, photograph)

SIDE, STEP = 8, 4
patches = sliding_window_view(damaged, (SIDE, SIDE))[::STEP, ::STEP]
rows = patches.reshape(-1, SIDE * SIDE)
model = BayesianFactorization(24, random_state=0).fit(rows)
filled = model.impute(rows).reshape(patches.shape)

# %%
# Put the patches back where they came from.
total, count = np.zeros_like(photograph), np.zeros_like(photograph)
for i, j in np.ndindex(patches.shape[:2]):
    place = slice(i * STEP, i * STEP + SIDE), slice(j * STEP, j * STEP + SIDE)
    total[place] += filled[i, j]
    count[place] += 1
restored = np.where(removed, total / count, photograph).clip(0, 255)


def psnr(picture):
    """Peak signal-to-noise ratio over the removed pixels, in decibels."""
    return 10 * np.log10(255**2 / np.mean((picture - photograph)[removed] ** 2))


mean = np.full_like(photograph, np.nanmean(damaged))
print(f"{len(rows)} patches; {psnr(restored):.1f} dB, the mean of the picture {psnr(mean):.1f} dB")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
for axis, picture, title in zip(
    axes, (damaged, restored, photograph), ("half removed", "restored", "as it was"), strict=True
):
    axis.imshow(np.ma.masked_invalid(picture), cmap="gray", vmin=0, vmax=255)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
