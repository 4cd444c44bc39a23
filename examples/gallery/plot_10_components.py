"""
What was learned: components
============================

The factorisation describes each digit by a few numbers. It chooses how many components it needs; here are the first
of them as images, what each explains, and the digits as points in the plane of the first two.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from factorstream import BayesianFactorization, plot

digits = load_digits()
model = BayesianFactorization(random_state=0).fit(digits.data)
print(f"{model.n_components_} components in use")

# %%
# Components are fixed only up to a rotation. All pictures turn them to the principal axes of what they explain, so that
# they come in the order of their importance; nothing else changes. An image is what a digit gains where its coefficient
# is one standard deviation higher.
plot.components(model, "images", shape=(8, 8))
plt.show()

# %%
# What each of them explains. The dashed line is the noise in any one direction, which the last ones still stand out of.
plot.spectrum(model)
plt.show()

# %%
# Every digit as a point: those that look alike lie close together.
axis = plot.coefficients(model, digits.data, color=digits.target)
axis.figure.axes[-1].set_ylabel("digit")
plt.show()
