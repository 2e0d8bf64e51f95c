"""What all tests share: `--hypothesis-profile long` tries 10,000 examples of each property in place of 100."""

from hypothesis import HealthCheck, settings

settings.register_profile("short", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("short")
