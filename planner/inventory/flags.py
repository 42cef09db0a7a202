"""What is odd about a snapshot as a whole: kept as codes and figures, told in the language of
whoever reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from fleet.inventory import ReadStatus

if TYPE_CHECKING:
    from planner.inventory.models import Snapshot

Flag = dict[str, Any]
"""``code``, and the figures that its words name."""


def flags_of(previous: Snapshot | None, snapshot: Snapshot) -> list[Flag]:
    """The flags of ``snapshot``; ``previous`` is the one that its cluster showed before."""
    found = (
        _shrunk(previous, snapshot),
        _one_sided(snapshot),
        _uncounted(snapshot),
        _of_several_moments(snapshot),
    )
    return [flag for flag in found if flag is not None]


def flag_words(flags: Sequence[Flag]) -> str:
    """The flags as they follow "This snapshot"; "" for none."""
    return "; ".join(filter(None, map(_words, flags)))


def _words(flag: Flag) -> str:
    match flag["code"]:
        case "shrunk":
            fallen = ", ".join(_fallen(*figure) for figure in flag["figures"])
            return _("shrunk by more than half since snapshot %(number)s: %(fallen)s") % {
                "number": flag["since"],
                "fallen": fallen,
            }
        case "no-pods":
            return _("lists %(n)s nodes and not one pod, so that every GPU looks free") % flag
        case "no-nodes":
            return _("lists %(n)s pods and not one node, so that no GPU is known") % flag
        case "uncounted":
            return _("GPUs offered through DRA are not counted: %(reason)s") % flag
        case "torn":
            return _(
                "was not read at one moment: the list of %(resources)s expired again and again"
            ) % {"resources": ", ".join(flag["resources"])}
    return ""


def _fallen(what: str, before: int, now: int) -> str:
    words = {
        "gpus": _("%(now)s instead of %(before)s GPUs"),
        "pods": _("%(now)s instead of %(before)s pods"),
        "requested": _("%(now)s instead of %(before)s requested GPUs"),
    }
    return words[what] % {"now": now, "before": before}


def _shrunk(previous: Snapshot | None, snapshot: Snapshot) -> Flag | None:
    """GPUs, pods or requests that fell far may have been read wrongly, or be a real loss."""
    if previous is None:
        return None
    figures = (
        ("gpus", previous.physical_gpus, snapshot.physical_gpus),
        ("pods", previous.pod_count, snapshot.pod_count),
        ("requested", previous.requested_gpus, snapshot.requested_gpus),
    )
    fallen = [
        [what, before, now]
        for what, before, now in figures
        if before and now is not None and now * 2 < before
    ]
    return {"code": "shrunk", "since": previous.number, "figures": fallen} if fallen else None


def _one_sided(snapshot: Snapshot) -> Flag | None:
    """A list that was read and is empty, beside one that is not: on a cluster in use, agents of
    the system run on each node, and pods that run have a node."""
    read = {one["resource"] for one in snapshot.reads if one["status"] == ReadStatus.READ}
    if snapshot.node_count and not snapshot.pod_count and "pods" in read:
        return {"code": "no-pods", "n": snapshot.node_count}
    if snapshot.pod_count and not snapshot.node_count and "nodes" in read:
        return {"code": "no-nodes", "n": snapshot.pod_count}
    return None


def _uncounted(snapshot: Snapshot) -> Flag | None:
    reason = (snapshot.figures or {}).get("uncounted")
    return {"code": "uncounted", "reason": reason[:300]} if reason else None


def _of_several_moments(snapshot: Snapshot) -> Flag | None:
    torn = [read["resource"] for read in snapshot.reads if not read.get("is_consistent", True)]
    return {"code": "torn", "resources": torn} if torn else None
