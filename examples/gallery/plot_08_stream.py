"""
A stream that never ends
========================

Digits arrive one at a time, 30% of the pixels of each missing. Before the filter learns from an image it has to fill
it, so every error below is of an image that it had never seen. Memory stays the same however long this goes on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from factorstream import DictionaryFilter

rng = np.random.default_rng(0)
digits = rng.permutation(load_digits().data)
removed = rng.random(digits.shape) < 0.3
stream = np.where(removed, np.nan, digits)

model = DictionaryFilter(n_components=16, random_state=0)
error, believed = [], []
for k, row in enumerate(stream):
    if k > 0:
        filled, std = model.impute(row[None], return_std=True)
        gap = removed[k]
        error.append(np.mean((filled[0] - digits[k])[gap] ** 2))
        believed.append(np.mean(std[0][gap] ** 2))
    model.partial_fit(row[None])

# %%
# The error falls while the filter learns, and what it believes about its own error follows.


def running(squares, width=100):
    """Root of the mean of the last ``width`` squares."""
    return np.sqrt(np.convolve(squares, np.ones(width) / width, mode="valid"))


print(f"rows 1 to 100: error {running(error)[0]:.2f}, the last 100: {running(error)[-1]:.2f}")

figure, axis = plt.subplots()
axis.plot(np.arange(100, 100 + len(running(error))), running(error), label="error on missing pixels")
axis.plot(np.arange(100, 100 + len(running(error))), running(believed), "--", label="what the filter says it is")
spread = np.sqrt(np.mean((digits - digits.mean(axis=0)) ** 2))
axis.axhline(spread, color="black", lw=0.8, label="pixel means, known beforehand")
axis.set(xlabel="rows seen", ylabel="grey levels (0 to 16), last 100 rows", ylim=(0, None))
axis.legend()
plt.show()
