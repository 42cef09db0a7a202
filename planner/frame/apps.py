from django.apps import AppConfig


class FrameConfig(AppConfig):
    name = "planner.frame"
    label = "frame"
