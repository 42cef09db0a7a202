"""The whole report of one inventory: JSON-ready.

A key that does not apply is left out; ``None`` means that the objects do not say. Virtual and
simulated nodes are listed, and left out of totals. ``docs/inventory.md`` explains every key.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from fleet.inventory import Inventory
from fleet.inventory_report.demand import demand_totals
from fleet.inventory_report.fits import fits_report
from fleet.inventory_report.gangs import gangs_report
from fleet.inventory_report.nodes import attached_report, node_report
from fleet.inventory_report.pod_groups import pod_groups_report
from fleet.inventory_report.pods import pod_report
from fleet.inventory_report.probes import probes_report
from fleet.inventory_report.queues import queues_of, queues_report
from fleet.inventory_report.quotas import quotas_report
from fleet.inventory_report.topology import topology_report
from fleet.inventory_totals import totals
from fleet.readiness.distributed import distributed
from fleet.readiness.subject import Subject

Report = dict[str, Any]


def as_report(inventory: Inventory) -> Report:
    """``nodes``, ``attached``, ``pods``, ``totals``, ``fits``, ``gang``, ``pod_groups``,
    ``queues``, ``quota``, ``topology`` and ``probes``."""
    # Which day it is plays no part in what is read here.
    subject = Subject(inventory, date.min)
    queues = queues_of(subject)
    by_name = {node.name: node for node in inventory.nodes}
    return {
        "nodes": {node.name: node_report(node) for node in inventory.nodes},
        "attached": [attached_report(pool) for pool in inventory.attached],
        "pods": {
            f"{pod.namespace}/{pod.name}": pod_report(pod, by_name.get(pod.node))
            for pod in inventory.pods
        },
        "totals": totals(inventory) | demand_totals(subject, queues),
        "fits": fits_report(subject, queues),
        "gang": gangs_report(distributed(subject)),
        "pod_groups": pod_groups_report(inventory),
        "queues": queues_report(queues),
        "quota": quotas_report(inventory),
        "topology": topology_report(inventory),
        "probes": probes_report(inventory),
    }
