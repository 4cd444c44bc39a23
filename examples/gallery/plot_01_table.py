"""
Fill a table
============

178 wines, 13 chemical measurements in 13 different units, 30% of the entries removed. `LowRankImputer` fills them and
says how far each may be off.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from factorstream import LowRankImputer, plot
from factorstream.masks import random_mask

wine = load_wine(as_frame=True).data
removed = random_mask(wine.shape, 0.3, rng=0)
table = wine.mask(removed)  # a pandas table with NaN where an entry was removed

imputer = LowRankImputer(random_state=0).fit(table)
filled = imputer.transform(table)
lower, upper = imputer.predict_interval(table, level=0.95)

# %%
# The truth is known here, so it can be compared. Columns are divided by their standard deviation, so that an error of 1
# is what one makes by always guessing the column's mean.
truth = wine.to_numpy()
unit = truth.std(axis=0)
error = ((filled - truth) / unit)[removed]
mean = ((np.nanmean(table, axis=0) - truth) / unit)[removed]
held = ((lower.to_numpy() <= truth) & (truth <= upper.to_numpy()))[removed]
print(f"error {np.sqrt(np.mean(error**2)):.2f}, column means {np.sqrt(np.mean(mean**2)):.2f}")
print(f"95% intervals hold {held.mean():.1%} of {held.size} removed entries")

# %%
# Where the gaps are, and for one column all removed entries with their intervals.
figure, (where, truths) = plt.subplots(1, 2, width_ratios=[1.4, 1], figsize=(9.6, 4.2))
plot.gaps(table, filled, ax=where)
where.set_xlabel("wine")

column = wine.columns.get_loc("flavanoids")
gap = removed[:, column]
low, high, value = (np.asarray(part)[gap, column] for part in (lower, upper, filled))
truths.errorbar(truth[gap, column], value, [value - low, high - value], fmt="o", ms=4, lw=1, alpha=0.6)
limits = [truth[:, column].min(), truth[:, column].max()]
truths.plot(limits, limits, color="black", lw=1)
truths.set(title="flavanoids: filled, 95% intervals", xlabel="true value", ylabel="filled value")
plt.show()
