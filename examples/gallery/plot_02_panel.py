"""
Fill a panel of series
======================

Monthly prices of nine shares and indices since 1990, with ten months in a row removed here and there. Neighbours in
time and the other series both say something about a gap; `SequenceFilter` uses both.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import cbook

from factorstream import SequenceFilter
from factorstream.masks import segment_mask
from factorstream.metrics import coverage, rmse

stocks = pd.read_csv(cbook.get_sample_data("Stocks.csv", asfileobj=False), comment="#", index_col=0, parse_dates=True)
stocks = stocks[stocks.index.day == 1].drop(columns="DELL").asfreq("MS")  # first of the month; DELL is nearly empty
logs = np.log(stocks)
removed = segment_mask(logs.shape, 0.15, length=10, rng=0, missing=logs.isna())
panel = logs.mask(removed)

model = SequenceFilter().fit(panel)
filled, std = model.impute(panel, return_std=True)  # tables, with the time stamps of the panel

# %%
# Beside it a straight line from one end of each gap to the other, which is hard to beat for prices.
line = panel.interpolate().bfill()
print(f"error of log prices: {rmse(logs, filled, where=removed):.3f}, lines {rmse(logs, line, where=removed):.3f}")
print(f"±2σ holds {coverage(logs, filled, std, n_std=2, where=removed):.1%}")

# %%
shown = logs.index[logs.index.year >= 2008]
figure, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 6.4))
for axis, name in zip(axes, ["AAPL", "MSFT", "AMZN"], strict=True):
    column = logs.columns.get_loc(name)
    gap = removed[:, column]
    value, spread = filled[name].where(gap), 2 * std[name].where(gap)
    axis.fill_between(logs.index, value - spread, value + spread, color="#56B4E9", alpha=0.45, lw=0, label="±2σ")
    axis.plot(panel.index, panel[name], color="#555555", lw=1, label="observed")
    axis.plot(logs.index[gap], logs[name][gap], ".", color="#D55E00", ms=4, label="removed")
    axis.plot(logs.index, value, color="#0072B2", lw=1.5, label="filled")
    axis.set_title(name, loc="left")
    axis.set_xlim(shown[0], shown[-1])
    axis.set_ylim(logs[name][shown].min() - 0.4, logs[name][shown].max() + 0.6)
    axis.set_ylabel("log price")
axes[0].legend(ncols=4, fontsize=8)
plt.show()
