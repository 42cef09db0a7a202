"""Saying how long ago something was, in one short unit."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _


def text(moment: datetime, now: datetime) -> str:
    """ "just now", "4 min ago", "2 h ago", "3 days ago". A moment ahead of ``now`` is "just now",
    since the clocks of two machines differ by a little."""
    seconds = (now - moment).total_seconds()
    if seconds < 60:
        return _("just now")
    if seconds < 3600:
        return _("%(n)d min ago") % {"n": seconds // 60}
    if seconds < 48 * 3600:
        return _("%(n)d h ago") % {"n": seconds // 3600}
    return _("%(n)d days ago") % {"n": seconds // 86400}
