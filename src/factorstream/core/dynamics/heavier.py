"""A stream whose noise turns out to have heavy tails goes on under Student-t noise, with what it has learned."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from ..robust_scale import MAD_TO_STD
from .model import SequenceModel, with_R
from .moments import add
from .noise import GaussianNoise, LearnedStudentSpec
from .stream import Candidate, Learning, Stream
from .tails import Tails

LEAST_PART = 0.01
"""Least part of the noise's variance that is left to it: the medians of few errors may be too small."""
KEPT = 0.1
"""Part of what was learned before that counts on: outliers were taken for noise in it. Not tuned."""


def with_heavy_tails(stream: Stream, spec: LearnedStudentSpec, tails: Tails) -> Stream:
    """The stream whose candidates have Student-t noise, of the spread that their median errors say. O(m r²).

    What is being learned was begun with other noise, and begins again.
    """
    fits = stream.fits if stream.learning is not None else stream.known
    return stream._replace(bank=tuple(_heavier(c, spec, tails) for c in stream.bank), job=None, fits=fits)


def _heavier(c: Candidate, spec: LearnedStudentSpec, tails: Tails) -> Candidate:
    learning, later = (one and _fainter(one) for one in (c.learning, c.would_learn))
    fitted = c.fitted._replace(model=_with_noise(c.fitted.model, spec, tails.usual))
    return c._replace(fitted=fitted, learning=learning, would_learn=later, foretold=None)


def _fainter(learning: Learning) -> Learning:
    past = learning.past
    return learning._replace(past=add(past, add(past, past, -1.0), KEPT))


def _with_noise(model: SequenceModel, spec: LearnedStudentSpec, usual: Array) -> SequenceModel:
    """The model with Student-t noise; R such that errors of one row have the median `usual` (m,), NaN if unknown."""
    if not isinstance(model.noise, GaussianNoise):
        return model
    R = model.noise.R
    part = np.where(np.isfinite(usual), (MAD_TO_STD * usual) ** 2 / R, 1.0)
    return with_R(model, R)._replace(noise=spec.begin(R * np.clip(part, LEAST_PART, 1.0)))
