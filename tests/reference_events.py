"""Naive twins of what finds events in sequences. They share no code with ``src``."""

from __future__ import annotations

import numpy as np


def window_sums(scores, *, least, cut):
    """For every feature and window that ends with the last row: how far the sum of cut scores is from zero, over √n."""
    T, m = scores.shape
    out = np.zeros((T, m))
    for i in range(m):
        for length in range(1, T + 1):
            part = [z for z in scores[T - length :, i] if not np.isnan(z)]
            if len(part) >= least:
                total = sum(min(max(z, -cut), cut) for z in part)
                out[length - 1, i] = abs(total) / np.sqrt(len(part))
    return out


def outliers_that_return(Y, mean, far=5.0):
    """How many entries there are, how many are `far` robust deviations off, and after how many of these the next is
    back; by the median error of all rows."""
    n = count = asked = back = 0
    for y, expected in zip(Y.T, mean.T, strict=True):
        error = y - expected
        scale = 1.4826 * np.nanmedian(np.abs(error))
        n += np.isfinite(y).sum()
        for t in range(len(y)):
            if abs(error[t]) > far * scale:
                count += 1
                if t + 1 < len(y) and np.isfinite(y[t + 1]):
                    asked += 1
                    back += (y[t + 1] - expected[t]) / error[t] < 0.5
    return n, count, asked, back
