"""
Missing because it is large
===========================

A column of a real table loses 30% of its entries: once at random, once nearly all that are large, as when a sensor
saturates. In the second case what is filled is too low, and nothing in the observed entries of that column says so. How
bad it is depends on the column: it is shown for one that the others say little about, and for one that they nearly
determine. What can be seen is that gaps go with the values of *other* columns; `missingness` looks for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from factorstream import LowRankImputer, missingness

data = load_breast_cancer()
truth = data.data[:, :10]


def fill(column, large):
    """Remove 30% of the column, at random or of the large ones; what was hidden, filled, its bounds, and the test."""
    rank = truth[:, column].argsort().argsort() / len(truth)  # 0 for the smallest, 1 for the largest
    gap = np.random.default_rng(0).random(len(truth)) < (0.9 * (rank > 2 / 3) if large else 0.3)
    table = truth.copy()
    table[gap, column] = np.nan
    imputer = LowRankImputer(random_state=0).fit(table)
    lower, upper = (bound[gap, column] for bound in imputer.predict_interval(table))
    return truth[gap, column], imputer.transform(table)[gap, column], lower, upper, missingness(table).depends[column]


# %%
figure, axes = plt.subplots(2, 2, figsize=(8.6, 7.4))
for pair, name in zip(axes, ("mean texture", "mean concavity"), strict=True):
    column = list(data.feature_names).index(name)
    ends = [truth[:, column].min(), truth[:, column].max()]
    for axis, large in zip(pair, (False, True), strict=True):
        hidden, filled, lower, upper, depends = fill(column, large)
        held = np.mean((lower <= hidden) & (hidden <= upper))
        off = np.mean(filled - hidden) / truth[:, column].std()
        why = "because it is large" if large else "at random"
        print(
            f"{name}, missing {why}: 95% intervals hold {held:.0%}, filled values {off:+.2f} deviations off on average;"
        )
        print(f"    the gaps depend on another column: {bool(depends)}")
        axis.errorbar(hidden, filled, [filled - lower, upper - filled], fmt="o", ms=3, lw=0.6, alpha=0.5)
        axis.plot(ends, ends, color="black", lw=0.8)
        axis.set(title=f"{name}, missing {why}", xlabel="true value", ylabel="filled, with 95% interval")
plt.show()
