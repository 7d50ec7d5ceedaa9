"""Hypothesis without deadlines and without files in the checkout.

In CI the examples are always the same, so that a change is judged by what it changed; elsewhere they are new each time.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "core",
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("core")
