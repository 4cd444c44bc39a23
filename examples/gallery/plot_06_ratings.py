"""
Ratings
=======

600 people and 300 things, simulated; every tenth rating is known, as whole stars. Sparse rows hold the known ratings
and nothing else. A tenth of them is held back to see how good the predictions are.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from factorstream import BayesianFactorization
from factorstream.metrics import coverage, rmse

rng = np.random.default_rng(0)
people, things = rng.normal(size=(600, 3)), rng.normal(size=(3, 300))
liking = 3.5 + 0.5 * rng.normal(size=300) + 0.45 * people @ things + 0.3 * rng.normal(size=(600, 300))
stars = liking.round().clip(1, 5)
known = rng.random(stars.shape) < 0.1
held_back = known & (rng.random(stars.shape) < 0.1)
given = known & ~held_back
ratings = sparse.csr_array((stars[given], np.nonzero(given)), shape=stars.shape)

model = BayesianFactorization(5, random_state=0).fit(ratings)
predicted, std = model.impute(ratings, return_std=True)

# %%
# Beside it the mean rating of each thing.
sums = np.where(given, stars, 0.0).sum(axis=0)
means = np.broadcast_to(sums / given.sum(axis=0), stars.shape)
print(f"error {rmse(stars, predicted, where=held_back):.2f} stars, means {rmse(stars, means, where=held_back):.2f}")
print(f"95% intervals hold {coverage(stars, predicted, std, where=held_back):.1%}")

# %%
# Who has rated more is known better: the deviation falls with the number of ratings that a person gave.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
bins = [predicted[held_back & (stars == star)] for star in range(1, 6)]
left.boxplot(bins, positions=range(1, 6), showfliers=False)
left.set(title="ratings that were held back", xlabel="stars given", ylabel="stars predicted")
per_person = given.sum(axis=1)
right.plot(per_person, np.where(given, np.nan, std)[:, :].mean(axis=1, where=~given), ".", alpha=0.5)
right.set(title="how sure", xlabel="ratings of a person", ylabel="mean deviation (stars)")
plt.show()
