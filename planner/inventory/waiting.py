"""What waits for GPUs in a cluster, as its page and CSV show it. It is stored with the snapshot as
facts, and told in the language of whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import ngettext

from fleet.inventory_report.fit_words import fit_words
from fleet.inventory_report.waiting import MOST_JUDGED, Waiting, WaitingList
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.pod_lines import asks_words, state_word
from planner.inventory.running import owner_url

_HAS_PODS = ("pending", "gated")


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """One line with its words. ``verdict``: whether all of it fits now, None where that is not
    known. ``url``: the pods, "" where there are none."""

    waiting: Waiting
    owner: str
    state: str
    asks: str
    verdict: bool | None
    fit: str
    url: str


def waiting_list(snapshot: Snapshot) -> WaitingList:
    """What is stored with the snapshot. One statement, where its large columns were left out."""
    return msgspec.convert(snapshot.waiting or {}, type=WaitingList)


def waiting_lines(cluster: Cluster, found: WaitingList) -> list[WaitingLine]:
    """The lines, the most devices first."""
    return [_line(cluster, waiting) for waiting in found.lines]


def _line(cluster: Cluster, waiting: Waiting) -> WaitingLine:
    owner = f"{waiting.kind} {waiting.name}".strip()
    fit: dict[str, Any] | None = waiting.fit
    return WaitingLine(
        waiting=waiting,
        owner=owner,
        state=state_word(waiting.state),
        asks=asks_words(
            waiting.requests,
            claim_devices=waiting.claim_devices,
            fraction=waiting.gpu_fraction,
        ),
        verdict=fit["fits"] if fit is not None else None,
        fit=fit_words(fit) if fit is not None else _not_judged(),
        url=owner_url(cluster, waiting.namespace, owner) if waiting.state in _HAS_PODS else "",
    )


def _not_judged() -> str:
    return ngettext(
        "not judged: only the largest is", "not judged: only the %(n)d largest are", MOST_JUDGED
    ) % {"n": MOST_JUDGED}
