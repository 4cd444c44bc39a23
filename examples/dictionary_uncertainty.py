"""Where is the dictionary unsure? The posterior covariance, component by component and pixel by pixel.

The posterior of the paper is V ⊗ I: one covariance V between components, the same for every pixel. Its
eigenvectors are combinations of components, and its eigenvalues say how unsure the dictionary is along each.
When pixels are missing in a pattern, V alone cannot say *where* in the image the doubt lies. The coefficients
x_k that the filter found give the posterior of each pixel's own row of the dictionary,

    V_i = (V0⁻¹ + Σ_{k: pixel i observed} x_k x_kᵀ / λ)⁻¹,

and a map of tr V_i. Here a block around the mouth is missing from most faces. The map is compared with what
the missing pixels did to the dictionary: its distance from the dictionary that the same coefficients give
when every pixel is there. Doubt and damage are nearly in the same order. Their sizes need not agree: V_i
takes the coefficients as known and the noise as white. (`DictionaryFilter` as it comes keeps a V_i for every feature
while the rows pass; here it is the paper's, and V_i is computed afterwards.)

    python examples/dictionary_uncertainty.py       writes dictionary_uncertainty.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from factorstream import DictionaryFilter
from factorstream.datasets import load_olivetti

R, SIDE, BLOCK = 20, 64, 28
LOOKS = (10, 50, 100, 200, 400)


def mouth_mask(n, rng):
    """A square per face, centred near the mouth, in nine faces of ten."""
    top = np.clip(rng.normal(30, 3, n).round(), 0, SIDE - BLOCK)[:, None]
    left = np.clip(rng.normal(18, 5, n).round(), 0, SIDE - BLOCK)[:, None]
    place = np.arange(SIDE)
    rows = (place >= top) & (place < top + BLOCK)
    columns = (place >= left) & (place < left + BLOCK)
    mask = rows[:, :, None] & columns[:, None, :]
    return (mask & (rng.random(n) < 0.9)[:, None, None]).reshape(n, -1)


def pixel_posterior(X, Z, noise, prior):
    """tr V_i for every pixel, and the dictionary with one posterior per pixel: rows c_i."""
    seen = ~np.isnan(X)
    filled = np.where(seen, X, 0.0)
    outer = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
    information = (seen.T @ outer).reshape(-1, R, R) / noise + np.linalg.inv(prior)
    V = np.linalg.inv(information)
    dictionary = np.einsum("irs,is->ir", V, filled.T @ Z / noise)
    return np.trace(V, axis1=1, axis2=2), dictionary


def main(folder="."):
    faces = load_olivetti()
    print(f"Faces: {faces.source}.")
    rng = np.random.default_rng(0)
    Y = faces.images.reshape(-1, SIDE * SIDE)
    Y = Y[rng.permutation(len(Y))]
    X = np.where(mouth_mask(len(Y), rng), np.nan, Y)

    # One pass, with a look at V on the way.
    model = DictionaryFilter(R, covariance="shared", scale=False, random_state=0)  # the paper's filter
    spectra = {}
    for start, stop in zip((0, *LOOKS), LOOKS, strict=False):
        model.partial_fit(X[start:stop])
        spectra[stop] = np.linalg.eigvalsh(model.covariance_)[::-1]
    values, vectors = np.linalg.eigh(model.covariance_)
    surest, unsurest = vectors[:, 0] @ model.components_, vectors[:, -1] @ model.components_

    Z = model.transform(X)
    prior = np.eye(R) * np.var(Y) / R
    variance, dictionary = pixel_posterior(X - model.mean_, Z, model.noise_variance_, prior)
    _, complete = pixel_posterior(Y - model.mean_, Z, model.noise_variance_, prior)
    damage = np.linalg.norm(dictionary - complete, axis=1)
    doubt = np.sqrt(variance)
    touched = np.isnan(X).any(axis=0)
    print(f"V: standard deviation {values[-1] ** 0.5:.3g} along the least sure direction, "
          f"{values[0] ** 0.5:.3g} along the surest.")  # fmt: skip
    print("Rank correlation of doubt and damage over the pixels that were ever missing: "
          f"{spearmanr(doubt[touched], damage[touched]).statistic:.2f}.")  # fmt: skip
    ratio = np.median(damage[touched] / doubt[touched])
    print(f"Median ratio of damage to doubt there: {ratio:.2f}.")
    path = Path(folder) / "dictionary_uncertainty.png"
    draw(spectra, unsurest, surest, np.isnan(X).mean(axis=0), doubt, damage, path)
    print(f"Open {path}.")


def draw(spectra, unsurest, surest, missing, doubt, damage, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.6), layout="constrained")
    grid = figure.subplots(2, 3)
    axis = grid[0, 0]
    for shade, (count, spectrum) in zip(np.linspace(0.75, 0.0, len(spectra)), spectra.items(), strict=True):
        axis.semilogy(range(1, R + 1), np.sqrt(spectrum), "o-", ms=3, color=str(shade), label=f"{count} faces")
    axis.set_title("what V says: doubt along each direction", fontsize=10)
    axis.set_xlabel("direction, least sure first")
    axis.set_ylabel("standard deviation")
    axis.legend(fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    pictures = [
        (grid[0, 1], unsurest, "the direction it is least sure of", "gray"),
        (grid[0, 2], surest, "the direction it is surest of", "gray"),
        (grid[1, 0], missing, "share of faces without this pixel", "magma"),
        (grid[1, 1], doubt, "doubt about the dictionary, √tr $V_i$", "magma"),
        (grid[1, 2], damage, "damage: distance from complete data", "magma"),
    ]
    for axis, values, title, colours in pictures:
        shown = axis.imshow(np.reshape(values, (SIDE, SIDE)), cmap=colours)
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
        figure.colorbar(shown, ax=axis, shrink=0.8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
