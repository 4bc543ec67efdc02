"""The checks of scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from invar import InvarClassifier, InvarRegressor

#: Quick fits, which see enough to pass the checks of scores.
CLASSIFIER = InvarClassifier("permute(0)", folds=1, epochs=20)
REGRESSOR = InvarRegressor("permute(0)", folds=1, epochs=40)

#: Checks that fail, with reasons.
EXPECTED = {}


@parametrize_with_checks([CLASSIFIER, REGRESSOR], expected_failed_checks=lambda _: EXPECTED)
@pytest.mark.filterwarnings("ignore")
def test_manners(estimator, check):
    check(estimator)
