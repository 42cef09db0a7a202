from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "planner.jobs"
    label = "jobs"
