"""
Find odd rows
=============

The filter learns what ordinary rows look like and gives each row a log-density; the lowest are the oddest. Here it
learns from 200 benign tumours (30 measurements of cell nuclei, in their own units) and is then shown others, benign
and malignant. It never sees a label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score, roc_curve

from factorstream import DictionaryFilter, plot

data = load_breast_cancer()
benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
ordinary, new = benign[:200], np.vstack([benign[200:], malignant])
is_malignant = np.repeat([False, True], [len(benign) - 200, len(malignant)])

model = DictionaryFilter(n_components=5, random_state=0).fit(ordinary)
oddness = -model.score_samples(new)

# %%
gappy = np.where(np.random.default_rng(0).random(new.shape) < 0.3, np.nan, new)  # gaps are no obstacle
oddness_gappy = -model.score_samples(gappy)
print(f"area under the ROC curve: {roc_auc_score(is_malignant, oddness):.3f}")
print(f"with 30% of the entries missing: {roc_auc_score(is_malignant, oddness_gappy):.3f}")

# %%
# Row by row: benign tumours first, malignant ones after the line. The ten oddest are marked.
figure, (left, right) = plt.subplots(1, 2, width_ratios=[1.5, 1], figsize=(9.6, 3.8))
plot.innovations(model, new, n_marked=10, ax=left)
left.axvline(np.count_nonzero(~is_malignant) - 0.5, color="black", lw=0.8)
for scores, name in ((oddness, "complete rows"), (oddness_gappy, "30% missing")):
    right.plot(*roc_curve(is_malignant, scores)[:2], label=name)
right.plot([0, 1], [0, 1], color="black", lw=0.8)
right.set(xlabel="false alarms", ylabel="malignant rows found")
right.legend()
plt.show()
