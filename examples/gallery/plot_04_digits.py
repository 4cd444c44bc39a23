"""
Restore images
==============

1797 scanned digits of 8 × 8 pixels, a square of 3 × 3 removed from each. One pass of `DictionaryFilter` learns what
digits look like from the damaged images themselves, fills the squares, and says where it is unsure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from factorstream import DictionaryFilter
from factorstream.masks import block_mask
from factorstream.metrics import coverage, rmse

images = load_digits().images
rows = images.reshape(len(images), -1)  # one image per row
removed = block_mask(len(rows), (8, 8), (3, 3), rng=0)
damaged = np.where(removed, np.nan, rows)

model = DictionaryFilter(n_components=20, random_state=0).fit(damaged)
filled, std = model.impute(damaged, return_std=True)

# %%
# Grey levels go from 0 to 16. The mean of each pixel is what one would fill in without a model. Where gaps are in one
# piece, intervals of the filter hold less than they should; ``BayesianFactorization(calibrate=True)`` is made for that.
mean = np.broadcast_to(np.nanmean(damaged, axis=0), rows.shape)
print(f"error {rmse(rows, filled, where=removed):.2f}, pixel means {rmse(rows, mean, where=removed):.2f}")
print(f"95% intervals hold {coverage(rows, filled, std, where=removed):.1%}")

# %%
shown = range(10)
figure, axes = plt.subplots(4, len(shown), figsize=(9, 4))
for column, k in enumerate(shown):
    pictures = (rows[k], damaged[k], filled[k].clip(0, 16), std[k])
    for axis, picture, colours, top in zip(
        axes[:, column], pictures, ("gray", "gray", "gray", "magma"), (16, 16, 16, 8), strict=True
    ):
        axis.imshow(np.ma.masked_invalid(picture.reshape(8, 8)), cmap=colours, vmin=0, vmax=top)
        axis.set_facecolor("#D55E00")  # shows through where a pixel is missing
        axis.set(xticks=[], yticks=[])
for axis, name in zip(axes[:, 0], ("as it was", "damaged", "filled", "how unsure"), strict=True):
    axis.set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
