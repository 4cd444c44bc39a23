"""
Forecast a tide
===============

Eight tide gauges, simulated from the four largest tidal constituents (their true periods: 12.42, 12, 23.93 and 25.82
hours) with noise. The model is not told the periods; one gauge also falls silent for a while.
"""

import matplotlib.pyplot as plt
import numpy as np

from factorstream import SequenceFilter, plot
from factorstream.metrics import rmse

rng = np.random.default_rng(1)
hours = np.arange(30 * 24)
period = np.array([12.4206, 12.0, 23.9345, 25.8193])
phase = rng.uniform(0, 2 * np.pi, (8, 4))
height = np.array([1.0, 0.35, 0.2, 0.15]) * rng.uniform(0.6, 1.4, (8, 4))
tide = np.cos(2 * np.pi * hours[:, None, None] / period + phase) * height
level = tide.sum(axis=2) + 0.05 * rng.normal(size=(len(hours), 8))

AHEAD = 72
known, future = level[:-AHEAD].copy(), level[-AHEAD:]
known[560:610, 2] = np.nan  # gauge 2 falls silent

model = SequenceFilter(n_components=8).fit(known)  # two components for each of four cycles
ahead = model.forecast(AHEAD)
lower, upper = model.forecast_interval(AHEAD, level=0.95)

# %%
print(f"error of the forecast {rmse(future, ahead):.2f} m, deviation of the tide {level.std():.2f} m")
print(f"bounds of 95% hold {((lower <= future) & (future <= upper)).mean():.1%}")

# %%
# The gap of gauge 2 is filled by what the other gauges say. The next three days of two gauges are a fan: half of the
# hours are to lie in the darkest band, 95% in the lightest. Dots are what the gauges said afterwards.
figure, axes = plt.subplots(3, 1, figsize=(8, 7.4))
plot.series(model, known, columns=[2], truth=level[:-AHEAD], ax=axes[:1])
axes[0].set_title("gauge 2, which fell silent", loc="left")
axes[0].set(ylabel="metres", xlim=(520, 648))
plot.forecast(model, AHEAD, known, columns=[2, 5], past=96, ax=axes[1:])
later = len(known) + np.arange(AHEAD)
for axis, gauge in zip(axes[1:], (2, 5), strict=True):
    axis.plot(later, future[:, gauge], ".", color="black", ms=2.5)
    axis.set_title(f"gauge {gauge}, three days ahead", loc="left")
    axis.set_ylabel("metres")
axes[-1].set_xlabel("hour")
plt.show()
