"""What all estimators share: everything that was learned is in ``state_``, and nothing elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError, make_constraint, validate_parameter_constraints

from ..persist import Saved
from ..progress import Step, progress
from ._html import Facts, learned_table


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

    def _progress(self, total: float | None = None) -> AbstractContextManager[Step]:
        """Show how far a fit or an answer has come while it goes on, if ``verbose`` asks for it.

        Answers do not check parameters, which may have become anything since the fit.
        """
        return progress(type(self).__name__, total, show=isinstance(self.verbose, Integral) and self.verbose > 0)

    def _tell(self, record: dict[str, float]) -> None:
        """Print what a pass, a sweep or a call was like, if ``verbose`` is 2 or more."""
        if self.verbose > 1:
            facts = ", ".join(f"{name} {value:.6g}" for name, value in record.items())
            print(f"[{type(self).__name__}] {facts}")

    def _facts(self) -> Facts:
        """What was learned, in words, once there is something."""
        return {}

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and what was learned below it."""
        return str(super()._repr_html_inner()) + self._learned_table()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same for notebooks, beside plain text."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not where scikit-learn was told to show text only
            bundle["text/html"] += self._learned_table()
        return bundle

    def _learned_table(self) -> str:
        return learned_table(self._facts()) if self.__sklearn_is_fitted__() else ""

    def _validate_params(self) -> None:
        """Refuse, by its name, a parameter that cannot be used.

        scikit-learn's check takes True for the number 1, and fails where a number is of a type that NumPy does not
        know, such as fractions.
        """
        name = type(self).__name__
        for parameter, value in self.get_params(deep=False).items():
            allowed = self._parameter_constraints[parameter]
            words = {one for one in allowed if type(one) is str}
            if isinstance(value, bool | np.bool_) and not {"boolean", "verbose"} & words:
                raise InvalidParameterError(_refusal(parameter, name, allowed, value))
            try:
                validate_parameter_constraints({parameter: allowed}, {parameter: value}, caller_name=name)
            except InvalidParameterError:
                raise
            except (TypeError, ValueError):
                raise InvalidParameterError(_refusal(parameter, name, allowed, value)) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "state_" in vars(self)


def _refusal(parameter: str, estimator: str, allowed: list[Any], value: object) -> str:
    """The sentence in which scikit-learn refuses a parameter, about a value that it does not tell from a number."""
    *others, last = (str(make_constraint(one)) for one in allowed)
    choice = f"{', '.join(others)} or {last}" if others else last
    return f"The {parameter!r} parameter of {estimator} must be {choice}. Got {value!r:.50} instead."
