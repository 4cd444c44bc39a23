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

from factorstream import SequenceFilter, plot
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
# Three of the nine from 2008 on. A model is asked for fills and intervals; what is at hand already is passed instead.
axes = plot.series(model, panel, columns=["AAPL", "MSFT", "AMZN"], truth=logs)
for axis in axes:
    shown = logs.loc["2008":, axis.get_title("left")]
    axis.set(xlim=(shown.index[0], shown.index[-1]), ylim=(shown.min() - 0.4, shown.max() + 0.6), ylabel="log price")
plt.show()
