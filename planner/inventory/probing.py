"""“Test connection”: everything a sync does first, up to the first node."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from fleet.kubernetes import api
from fleet.kubernetes.api import FetchError, FetchProgress
from planner.inventory.models import Cluster
from planner.inventory.reaching import address_policy, opened_access
from planner.jobs.runner import JobFailed

DEADLINE_S = 15.0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Whether the cluster answered; in words; and what to do when it did not."""

    reached: bool
    message: str
    way_out: str = ""
    code: str = ""


class _Enough(Exception):
    """Thrown out of the reading once the question is answered."""

    def __init__(self, nodes_readable: bool) -> None:
        super().__init__()
        self.nodes_readable = nodes_readable


def _stop_after_first_node(progress: FetchProgress) -> None:
    if progress.phase == "nodes" and progress.objects:
        raise _Enough(nodes_readable=True)
    if progress.phase not in ("connect", "discovery", "nodes"):
        raise _Enough(nodes_readable=False)


def probe(cluster: Cluster) -> ProbeResult:
    """Connect, log in, discover, and read one node; nothing is stored.

    Takes at most ``DEADLINE_S`` seconds and never raises for a cluster that fails.
    """
    try:
        access = opened_access(cluster)
        api.fetch(
            access,
            address_policy(),
            progress=_stop_after_first_node,
            deadline_s=DEADLINE_S,
            page_size=1,
        )
    except (FetchError, JobFailed) as error:
        return ProbeResult(False, error.message, error.way_out, str(error.code))
    except _Enough as enough:
        if enough.nodes_readable:
            return ProbeResult(True, _("Connected: the cluster answers and nodes can be read."))
    return ProbeResult(
        False,
        _("Connected, but no node could be read."),
        _("Apply the read-only ClusterRole, which this page shows, to this account."),
        "forbidden",
    )
