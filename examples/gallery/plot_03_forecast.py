"""
Forecast a tide
===============

Eight tide gauges, simulated from the four largest tidal constituents (their true periods: 12.42, 12, 23.93 and 25.82
hours) with noise. The model is not told the periods; one gauge also falls silent for a while.
"""

import matplotlib.pyplot as plt
import numpy as np

from factorstream import SequenceFilter
from factorstream.metrics import coverage, rmse

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
filled, std = model.impute(known, return_std=True)
ahead, ahead_std = model.forecast(AHEAD, return_std=True)

# %%
print(f"error of the forecast {rmse(future, ahead):.2f} m, deviation of the tide {level.std():.2f} m")
print(f"±2σ holds {coverage(future, ahead, ahead_std, n_std=2):.1%}")

# %%
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(8, 5.4))
later = len(known) + np.arange(AHEAD)
for axis, gauge in zip(axes, (2, 5), strict=True):
    gap = np.isnan(known[:, gauge])
    value = np.where(gap, filled[:, gauge], np.nan)
    for x, middle, spread, colour in (
        (hours[:-AHEAD], value, std[:, gauge], "#0072B2"),
        (later, ahead[:, gauge], ahead_std[:, gauge], "#B36B00"),
    ):
        for n_std, alpha in ((2, 0.2), (1, 0.3)):
            axis.fill_between(x, middle - n_std * spread, middle + n_std * spread, color=colour, alpha=alpha, lw=0)
    axis.plot(hours, level[:, gauge], ".", color="#777777", ms=2.5, label="what the gauge says")
    axis.plot(hours[:-AHEAD], value, color="#0072B2", lw=1.5, label="filled, ±1σ and ±2σ")
    axis.plot(later, ahead[:, gauge], color="#B36B00", lw=1.5, label="forecast, ±1σ and ±2σ")
    axis.axvline(len(known), color="black", lw=0.8)
    axis.set(title=f"gauge {gauge}", ylabel="metres", xlim=(520, 720))
axes[-1].set_xlabel("hour")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
plt.show()
