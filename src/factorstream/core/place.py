"""Where arrays with one entry per feature live.

The filter and the variational fit touch their m features in two ways only: a *map* (every feature gets something of
its own: a new row of C, a posterior, a prediction) and a *sum* (a small matrix that adds up over the features: CᵀC,
CᵀYᵀ, ‖e‖²). Both are written as plain functions of arrays, and a :class:`Place` runs them: on the features as they
are (:data:`HERE`), on a GPU, or on the workers of a cluster. Another place for the data is another implementation of
this Protocol, in a file of its own.

A *tall* array is whatever the place made of an array with a feature axis; only its ``put``, ``get``, ``each``,
``total`` and ``by_row`` look inside. NamedTuples and tuples of tall arrays are passed as they are. Arrays with one row
per sample are plain ones, kept where ``by_row`` and ``rows`` leave them: on a GPU there, otherwise in this process.

Functions that are asked of arrays of another library than NumPy use the array API (``factorstream.arrays``), or have
a twin that does: ``tall.array_products`` has a table of these, which is for functions made of BLAS, of writes by index
or of pieces for threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .linalg import Array

Tall = Any
"""An array with a feature axis, as its place keeps it."""


class Place(Protocol):
    """Runs functions over the features, wherever these are.

    Calls take effect in the order in which they are made: buffers are used again, and some functions write into their
    arguments. Sums are all that comes back small; a maximum over features is taken of what ``get`` returns.
    """

    room: int
    """How many numbers a temporary array may have; memory and speed only."""

    keeps_sparse: bool
    """Whether sparse rows stay sparse; otherwise ``put`` makes dense ones with gaps of them."""

    lag: int
    """How many rows with gaps are taken in before the filter's dictionary itself changes; speed and rounding only."""

    works_ahead: bool
    """Whether it works while this process does; rows of the next block then do not share memory with those of this
    one."""

    far: bool
    """Whether every sum takes a while, however small it is: what may be needed together is then asked for at once."""

    def put(self, values: Any, axis: int) -> Tall:
        """Bring an array, or sparse rows, of this process to the place; ``axis`` is the one of the features.

        A place that cuts the features makes pieces that are C-contiguous and not empty.
        """

    def get(self, values: Tall, axis: int) -> Array:
        """The array of this process that ``values`` stands for, its features along ``axis`` in the order of ``put``.

        Also where a function has left some features out: those that remain keep their order.
        """

    def each(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` makes of the tall arguments, feature by feature: its results are tall too.

        Arguments that are not tall are passed whole. A function that changes an argument in place returns it, and
        the caller goes on with what is returned. A result, or a part of one that is a tuple, is None for all pieces
        of the features or for none: no function looks at values to decide it.
        """

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum over the features of what ``function`` makes of them: an array or a number of this process.

        Where the function returns a tuple, each of its parts is summed.
        """

    def by_row(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same sum where it has one row per sample: it stays where such arrays are kept."""

    def rows(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` makes of arrays with one row per sample, none of which is tall."""

    def empty(self, *shape: int) -> Any:
        """Room for numbers (float64), one row per sample."""


class Here:
    """The features in one array of this process: every function is called once, on all of them."""

    room = 2**22
    """32 MiB."""

    keeps_sparse, lag, works_ahead, far = True, 1, False, False

    def put(self, values: Any, axis: int) -> Tall:
        """The array itself."""
        return values

    def get(self, values: Tall, axis: int) -> Array:
        """The array itself."""
        out: Array = values
        return out

    def each(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call."""
        return function(*arguments)

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call."""
        return function(*arguments)

    def by_row(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call."""
        return function(*arguments)

    def rows(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call."""
        return function(*arguments)

    def empty(self, *shape: int) -> Array:
        """An array of this process."""
        return np.empty(shape)


HERE = Here()


class Placed:
    """A base of arrays that say themselves at which place they are: there may be several places of one kind."""

    place: Place
