"""What columns of unequal noise change in the coefficients' covariance, where the dictionary is fixed."""

from __future__ import annotations

from typing import NamedTuple

from ..core.filter.coefficients import Coefficients
from ..core.filter.model import FilterModel
from ..core.filter.state import EPS, FilterState
from ..core.linalg import Array
from ..core.place import Place, Tall
from . import projecting_products as products
from .places import place_of


class Noises(NamedTuple):
    """How noisy the columns are beside the common noise."""

    place: Place
    ratio: Tall
    """κ_i², the noise variance of each column over the common one (m)."""
    sizes: Tall
    """‖c_i‖²: how much each column says about x (m)."""
    of_all: tuple[float, float]
    """Σ κ_i²‖c_i‖² and Σ ‖c_i‖²."""

    def of_coefficients(self, found: Coefficients, missing_idx: Tall, r: int) -> float:
        """What the covariance of x is to be multiplied by: the noise of the observed columns over the common one.

        Of the r degrees of freedom of x, ``fitted`` come from the row. The others come from the prior, which no noise
        changes.
        """
        gone = self.place.total(products.noise_at, self.ratio, self.sizes, missing_idx)
        size = self.of_all[1] - gone[1]
        if not size > EPS * self.of_all[1]:
            return 1.0
        return 1.0 + found.fitted / r * (max(float(self.of_all[0] - gone[0]), 0.0) / float(size) - 1.0)


def noises_of(state: FilterState, model: FilterModel, ratio: Array) -> Noises:
    """From κ² (m)."""
    place = place_of(state.C)
    tall, sizes = place.put(ratio, 0), place.each(products.row_sizes, state.C, model.r)
    return Noises(place, tall, sizes, place.total(products.noise_of_all, tall, sizes))
