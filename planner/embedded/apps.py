from django.apps import AppConfig


class EmbeddedConfig(AppConfig):
    name = "planner.embedded"
    label = "embedded"
