"""A pod as pages show it: its state with the reason, what it asks for with each unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fleet.units import gib_text
from planner.inventory.models import PodRow
from planner.inventory.pod_facts import BY_CLAIM, BY_PART, PodFacts, facts_of

STATE_WORDS = {
    "running": gettext_lazy("running"),
    "pending": gettext_lazy("pending"),
    "gated": gettext_lazy("held back"),
    "terminating": gettext_lazy("terminating"),
    "orphaned": gettext_lazy("orphaned"),
    "finished": gettext_lazy("finished"),
    "suspended": gettext_lazy("suspended"),
    "missing": gettext_lazy("not created"),
    "refused": gettext_lazy("refused"),
}
"""States of pods, and of pods that do not exist, in a word."""


@dataclass(frozen=True, slots=True)
class PodLine:
    """One pod. ``asks``: everything that it asks for, "" for nothing."""

    pod: PodRow
    facts: PodFacts
    state: str
    asks: str

    @property
    def owner(self) -> str:
        return self.pod.owner


def pod_line(row: PodRow) -> PodLine:
    """A row with its words."""
    facts = facts_of(row.facts)
    asks = asks_words(row.requests, fraction=facts.fraction, memory_mib=facts.memory_mib)
    return PodLine(row, facts, state_word(row.state), asks)


def state_word(state: str) -> str:
    """The state in the reader's language; one that is not known as it is."""
    return str(STATE_WORDS.get(state, state))


def asks_words(
    requests: Mapping[str, int | None],
    *,
    claim_devices: int = 0,
    fraction: float | None = None,
    memory_mib: int | None = None,
) -> str:
    """Each resource in its own unit, and never two in one sum."""
    words = [
        f"{number:,} {name}"
        for name, number in sorted(requests.items())
        if number is not None and name not in (BY_CLAIM, BY_PART)
    ]
    claimed = claim_devices or requests.get(BY_CLAIM) or 0
    if claimed:
        words.append(
            ngettext("%(n)s device by ResourceClaim", "%(n)s devices by ResourceClaim", claimed)
            % {"n": f"{claimed:,}"}
        )
    if fraction:
        words.append(_("%(part)s of a GPU") % {"part": f"{fraction:g}"})
    elif memory_mib:
        words.append(_("%(size)s of GPU memory") % {"size": gib_text(memory_mib)})
    elif requests.get(BY_PART):
        words.append(_("a part of a GPU"))
    return ", ".join(words)
