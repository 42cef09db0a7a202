"""``manage.py makemessages``: also collects the sentences of ``fleet`` (``fleet.words``)."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=say:1",
        "--keyword=say_many:1,2",
    ]
