from django.apps import AppConfig


class FrameConfig(AppConfig):
    name = "planner.frame"
    label = "frame"

    def ready(self) -> None:
        from django.utils.translation import gettext, ngettext

        from fleet import words

        words.use_translator(gettext, ngettext)
