"""Factorise and complete matrices while they stream in, with uncertainty that can be believed."""

from .baselines.broyden import BroydenFactorization
from .baselines.masked_nmf import MaskedNMF
from .baselines.sgd import SGDFactorization
from .estimators.dictionary_filter import DictionaryFilter

from .estimators.sequence import SequenceFilter

from .persist import load

__version__ = "0.1.0"

__all__ = [
    "BroydenFactorization",
    "DictionaryFilter",

    "MaskedNMF",
    "SGDFactorization",
    "SequenceFilter",
    "load",
]
