"""Hypothesis without deadlines and without files in the checkout."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "core", deadline=None, database=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("core")
