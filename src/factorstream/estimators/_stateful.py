"""What all estimators share: everything that was learned is in ``state_``, and nothing elsewhere."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..persist import Saved


class Stateful(Saved, BaseEstimator):
    """Base of every estimator. ``state_`` is one NamedTuple; all other fitted attributes are views of it.

    Only the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``, are kept beside it, by
    scikit-learn.
    """

    verbose: int

    def _learned(self) -> Any:
        """``state_``, or the sentence that says that there is none yet."""
        if "state_" not in vars(self):
            remedy = "call fit or partial_fit" if hasattr(self, "partial_fit") else "call fit"
            raise AttributeError(f"This {type(self).__name__} has not been fitted yet; {remedy}.")
        return vars(self)["state_"]

    def _tell(self, record: dict[str, float]) -> None:
        """Print what a pass, a sweep or a call was like, if ``verbose`` asks for it."""
        if self.verbose:
            facts = ", ".join(f"{name} {value:.6g}" for name, value in record.items())
            print(f"[{type(self).__name__}] {facts}")

    def __sklearn_is_fitted__(self) -> bool:
        return "state_" in vars(self)
