"""
Do the intervals hold?
======================

An interval of 80% should hold the truth 80 times out of 100, one of 95% 95 times. `plot.calibration` hides entries of a
table, fits a copy of the model without them, and counts for every level how many lie within their bounds. Here it does
so with four tables, 30% of whose entries are hidden.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from factorstream import LowRankImputer, plot

tables = {
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "diabetes": load_diabetes().data,
    "digits": load_digits().data[:400],
}

_, axis = plt.subplots(figsize=(5.4, 4.8))
for name, table in tables.items():
    table = table[:, table.std(axis=0) > 0]
    model = LowRankImputer(random_state=0).fit(table)  # as one would to use it; what is drawn is a copy of it
    plot.calibration(model, table, levels=(0.5, 0.6, 0.7, 0.8, 0.9, 0.95), fraction=0.3, label=name, ax=axis)
    held = axis.lines[-1].get_ydata()[-1]
    print(f"{name}: 95% intervals hold {held:.1%}")
plt.show()
