"""
Do the intervals hold?
======================

An interval of 80% should hold the truth 80 times out of 100, one of 95% 95 times. Entries of four tables are removed,
and for every level the share that lies within its bounds is counted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from factorstream import LowRankImputer
from factorstream.masks import random_mask

tables = {
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "diabetes": load_diabetes().data,
    "digits": load_digits().data[:400],
}
levels = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])

figure, axis = plt.subplots(figsize=(5.4, 4.8))
axis.plot([0.45, 1], [0.45, 1], color="black", lw=0.8, label="as promised")
for name, table in tables.items():
    table = table[:, table.std(axis=0) > 0]
    removed = random_mask(table.shape, 0.3, rng=0)
    gappy = np.where(removed, np.nan, table)
    imputer = LowRankImputer(random_state=0).fit(gappy)
    held = []
    for level in levels:
        lower, upper = imputer.predict_interval(gappy, level=level)
        held.append(np.mean(((lower <= table) & (table <= upper))[removed]))
    axis.plot(levels, held, "o-", ms=4, label=name)
    print(f"{name}: 95% intervals hold {held[-1]:.1%}")
axis.set(xlabel="level asked for", ylabel="share of removed entries within the bounds")
axis.legend()
plt.show()
