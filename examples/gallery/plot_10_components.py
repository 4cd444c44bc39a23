"""
What was learned: components
============================

The factorisation describes each digit by a few numbers. It chooses how many components it needs; here are the first
of them as images, and the digits as points in the plane of the first two.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from factorstream import BayesianFactorization

digits = load_digits()
model = BayesianFactorization(random_state=0).fit(digits.data)
coefficients = model.transform(digits.data)
print(f"{model.n_components_} components in use")

# %%
# Components are fixed only up to a rotation. Turned to the principal axes of what they explain, they come in the order
# of their importance; nothing else changes. The singular value decomposition does that.
centre = coefficients.mean(axis=0)
left, size, axes_of_rows = np.linalg.svd((coefficients - centre) @ model.components_, full_matrices=False)
size, axes_of_rows = size[: model.n_components_], axes_of_rows[: model.n_components_]

figure = plt.figure(figsize=(9, 4.4))
pictures, plane = figure.subfigures(1, 2, width_ratios=[1, 1.1])
for axis, component in zip(pictures.subplots(3, 4).flat, axes_of_rows, strict=False):
    axis.imshow(component.reshape(8, 8), cmap="RdBu_r", vmin=-0.4, vmax=0.4)
    axis.set(xticks=[], yticks=[])
axis = plane.subplots()
points = axis.scatter(*(left[:, :2] * size[:2]).T, c=digits.target, cmap="tab10", s=6)
axis.set(xlabel="first component", ylabel="second component")
plane.colorbar(points, label="digit", ticks=range(10))
plt.show()
