"""Pictures of one's own data and models, with matplotlib (``pip install "factorstream[plot]"``).

Every function draws on the ``ax`` it is given, or on a new figure, and returns what it has drawn on: an Axes, or an
array of them. Nothing is shown or saved, and no setting of matplotlib is changed.
"""

from ._calibration import calibration
from ._coefficients import coefficients
from ._components import components
from ._forecast import forecast
from ._gaps import gaps
from ._innovations import innovations
from ._series import series
from ._spectrum import spectrum

__all__ = ["calibration", "coefficients", "components", "forecast", "gaps", "innovations", "series", "spectrum"]
