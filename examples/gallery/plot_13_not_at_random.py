"""
Missing because it is large
===========================

A column of a real table loses 30% of its entries: once at random, once nearly all that are large, as when a sensor
saturates. In the second case what is filled is too low, and no method that sees only the others can know it. What can
be seen is that the gaps go with the values of *other* columns; `missingness` looks for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from factorstream import LowRankImputer, missingness

rng = np.random.default_rng(0)
data = load_breast_cancer()
truth = data.data[:, :10]
column = list(data.feature_names).index("mean texture")
rank = truth[:, column].argsort().argsort() / len(truth)  # 0 for the smallest, 1 for the largest

figure, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(8.6, 4.2))
for axis, chance, title in zip(axes, (0.3, 0.9 * (rank > 2 / 3)), ("at random", "because it is large"), strict=True):
    gap = rng.random(len(truth)) < chance
    table = truth.copy()
    table[gap, column] = np.nan
    imputer = LowRankImputer(random_state=0).fit(table)
    filled = imputer.transform(table)[gap, column]
    lower, upper = (bound[gap, column] for bound in imputer.predict_interval(table))
    hidden = truth[gap, column]
    held = np.mean((lower <= hidden) & (hidden <= upper))
    found = missingness(table)
    print(f"{title}: intervals hold {held:.0%}, filled values are {np.mean(filled - hidden):+.1f} off on average")
    print(f"  gaps depend on another column: {bool(found.depends[column])}")
    axis.errorbar(hidden, filled, [filled - lower, upper - filled], fmt="o", ms=3, lw=0.6, alpha=0.5)
    axis.plot([9, 40], [9, 40], color="black", lw=0.8)
    axis.set(title=f"missing {title}", xlabel="true texture")
axes[0].set_ylabel("filled, with 95% interval")
plt.show()
