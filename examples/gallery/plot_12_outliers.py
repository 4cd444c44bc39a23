"""
Outliers that nobody marked
===========================

A breast cancer table with 20% of its entries missing, and in 3% of the others a gross error: the value is multiplied
by ten. With `robust=True` an entry that does not fit loses its weight, so that it does not spoil what is learned from
the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from factorstream import LowRankImputer

rng = np.random.default_rng(0)
truth = load_breast_cancer().data
removed = rng.random(truth.shape) < 0.2
wrong = ~removed & (rng.random(truth.shape) < 0.03)
table = np.where(removed, np.nan, np.where(wrong, 10 * truth, truth))

unit = truth.std(axis=0)
plain = LowRankImputer(random_state=0).fit_transform(table)
robust = LowRankImputer(robust=True, random_state=0).fit_transform(table)

# %%
# Errors over the removed entries, columns divided by their standard deviation.
errors = {name: ((filled - truth) / unit)[removed] for name, filled in (("plain", plain), ("robust", robust))}
for name, error in errors.items():
    print(f"{name}: error {np.sqrt(np.mean(error**2)):.2f}, median {np.median(np.abs(error)):.2f}")

# %%
figure, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(8, 4))
middle = truth.mean(axis=0)
for axis, (name, filled) in zip(axes, (("plain", plain), ("robust", robust)), strict=True):
    standard = [((values - middle) / unit)[removed] for values in (truth, filled)]
    axis.plot(*standard, ".", ms=2, alpha=0.4)
    axis.plot([-3, 6], [-3, 6], color="black", lw=0.8)
    axis.set(title=name, xlabel="true value (standardised)", xlim=(-3, 6), ylim=(-3, 8))
axes[0].set_ylabel("filled value")
plt.show()
