"""Factorise and complete matrices while they stream in, with uncertainty that can be believed."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what `_MODULES` and `_PARTS` say, for type checkers and editors
    from . import datasets as datasets
    from . import diagnostics as diagnostics
    from . import images as images
    from . import masks as masks
    from . import metrics as metrics
    from . import persist as persist
    from . import plot as plot
    from . import rotation as rotation
    from .baselines.broyden import BroydenFactorization as BroydenFactorization
    from .baselines.masked_nmf import MaskedNMF as MaskedNMF
    from .baselines.sgd import SGDFactorization as SGDFactorization
    from .diagnostics import missingness as missingness
    from .estimators._checkpoint import Checkpoint as Checkpoint
    from .estimators._in_shards import in_shards as in_shards
    from .estimators.bayesian_factorization import BayesianFactorization as BayesianFactorization
    from .estimators.dictionary_filter import DictionaryFilter as DictionaryFilter
    from .estimators.low_rank_imputer import LowRankImputer as LowRankImputer
    from .estimators.sequence import SequenceFilter as SequenceFilter
    from .jobs.large import fill as fill
    from .persist import load as load
    from .persist import moved as moved
    from .rotation import principal_axes as principal_axes
    from .sources.rows.opening import open_rows as open_rows
    from .sources.rows.opening import open_sink as open_sink

__version__ = "0.1.0"

_MODULES = {
    "BayesianFactorization": "estimators.bayesian_factorization",
    "BroydenFactorization": "baselines.broyden",
    "Checkpoint": "estimators._checkpoint",
    "DictionaryFilter": "estimators.dictionary_filter",
    "LowRankImputer": "estimators.low_rank_imputer",
    "MaskedNMF": "baselines.masked_nmf",
    "SGDFactorization": "baselines.sgd",
    "SequenceFilter": "estimators.sequence",
    "fill": "jobs.large",
    "in_shards": "estimators._in_shards",
    "load": "persist",
    "missingness": "diagnostics",
    "moved": "persist",
    "open_rows": "sources.rows.opening",
    "open_sink": "sources.rows.opening",
    "principal_axes": "rotation",
}
"""Every public name and the module that is imported when it is first asked for."""

_PARTS = ("datasets", "diagnostics", "images", "masks", "metrics", "persist", "plot", "rotation")
"""Modules with public names of their own, imported when they are first asked for, as in `factorstream.plot.gaps`.

Not `river`, which cannot be imported without its extra: then `help(factorstream)` would fail, as it asks for all."""

__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")  # Python keeps it as an attribute
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value  # the next time Python finds it without asking
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PARTS})
