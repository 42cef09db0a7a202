from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "planner.jobs"
    label = "jobs"

    def ready(self) -> None:
        from planner.frame import health, standing
        from planner.jobs import ticks

        health.register_warning("jobs", ticks.warning)
        standing.register(ticks.nobody_works)
