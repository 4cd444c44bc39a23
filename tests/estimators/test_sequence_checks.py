"""Scikit-learn's own checks. Two of them ask that the order of the rows mean nothing; here it is the point."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from factorstream import SequenceFilter

ORDER = {
    "check_methods_sample_order_invariance": "a row's state depends on the rows before and after it",
    "check_methods_subset_invariance": "a row's state depends on the rows before and after it",
}
ESTIMATORS = [
    SequenceFilter(),
    SequenceFilter(n_components=2, drift="none", robust=True),
    SequenceFilter(n_components=2, smooth=False, drift=1e-3),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: ORDER)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
