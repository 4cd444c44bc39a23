from ._helpers import *  # noqa: F403
