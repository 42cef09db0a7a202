"""``gpu-fleet inventory``: the GPUs of each node, all, schedulable, requested and free."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.cli.arguments import Options
from fleet.cli.sources import inventories
from fleet.cli.terminal import Column, paragraph, table, write, write_json, write_table_csv
from fleet.csv_text import Cell
from fleet.inventory import DeviceGroup, Inventory, Node, Units
from fleet.inventory_report import as_report
from fleet.units import gib_text
from fleet.words import say, say_many

CSV_COLUMNS = (
    "cluster",
    "node",
    "pool",
    "instance_type",
    "vendor",
    "model",
    "physical_gpus",
    "physical_estimated",
    "memory_mib_per_gpu",
    "sharing",
    "resource",
    "kind",
    "capacity",
    "allocatable",
    "requested",
    "free",
    "unhealthy",
    "schedulable",
    "reason",
    "kubelet",
)


def run(options: Options) -> int:
    found = inventories(options)
    if options.form == "json":
        reports = {name: as_report(inventory) for name, inventory in found.items()}
        write_json(reports if options.clusters else next(iter(reports.values())))
    elif options.form == "csv":
        write_table_csv(CSV_COLUMNS, _csv_rows(found))
    else:
        for place, (name, inventory) in enumerate(found.items()):
            write("\n" if place else "")
            _show(name if options.clusters else "", inventory)
    return 0


def _groups(inventory: Inventory) -> list[tuple[Node, DeviceGroup, Units | None]]:
    """One row for each resource of each device group; a group that offers none keeps one row."""
    return [
        (node, group, units)
        for node in inventory.nodes
        for group in node.groups
        for units in (group.units or (None,))
    ]


def _show(name: str, inventory: Inventory) -> None:
    report = as_report(inventory)
    totals = report["totals"]
    version = inventory.version.git_version or say("version not known")
    head = f"{name}: " if name else ""
    write(
        paragraph(
            head
            + say(
                "{gpus} GPUs on {gpu_nodes} of {nodes} nodes, {requested} requested, "
                "{free} free as whole GPUs. Kubernetes {version}.",
                gpus=_count(totals.get("physical_gpus")),
                gpu_nodes=totals.get("gpu_nodes", 0),
                nodes=len(inventory.nodes),
                requested=totals.get("requested", 0),
                free=totals.get("free_whole_gpus", 0),
                version=version,
            )
        )
    )
    rows = []
    for node, group, units in _groups(inventory):
        memory = gib_text(group.memory_mib, 0) if group.memory_mib is not None else say("unknown")
        rows.append(
            [
                node.name,
                group.model or say("unknown ({vendor})", vendor=group.vendor),
                memory,
                _count(group.physical) + ("~" if group.physical_estimated else ""),
                group.sharing,
                units.resource if units is not None else say("none offered"),
                str(units.allocatable) if units is not None else "0",
                str(units.requested) if units is not None else "0",
                str(node.free(units)) if units is not None else "0",
                node.not_schedulable_reason or say("yes"),
            ]
        )
    columns = [
        Column(say("NODE")),
        Column(say("GPU MODEL")),
        Column(say("MEMORY"), right=True),
        Column(say("GPUS"), right=True),
        Column(say("SHARING")),
        Column(say("RESOURCE")),
        Column(say("UNITS"), right=True),
        Column(say("REQUESTED"), right=True),
        Column(say("FREE"), right=True),
        Column(say("SCHEDULABLE")),
    ]
    if rows:
        write("\n" + table(columns, rows))
    else:
        write(paragraph(say("No GPU node was found.")))
    if inventory.problems:
        write("\n")
        write(paragraph(say_many("{n} odd objects:", "{n} odd objects:", len(inventory.problems))))
        for problem in inventory.problems[:10]:
            write(paragraph(f"- {problem}"))
        if len(inventory.problems) > 10:
            write(paragraph(say("- and {n} more (see --json)", n=len(inventory.problems) - 10)))


def _count(number: int | None) -> str:
    return say("unknown") if number is None else str(number)


def _csv_rows(found: Mapping[str, Inventory]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for name, inventory in found.items():
        for node, group, units in _groups(inventory):
            rows.append(
                {
                    "cluster": name,
                    "node": node.name,
                    "pool": node.pool,
                    "instance_type": node.instance_type,
                    "vendor": group.vendor,
                    "model": group.model,
                    "physical_gpus": group.physical,
                    "physical_estimated": group.physical_estimated,
                    "memory_mib_per_gpu": group.memory_mib,
                    "sharing": group.sharing,
                    "resource": units.resource if units is not None else None,
                    "kind": units.kind.value if units is not None else None,
                    "capacity": units.capacity if units is not None else None,
                    "allocatable": units.allocatable if units is not None else None,
                    "requested": units.requested if units is not None else None,
                    "free": node.free(units) if units is not None else None,
                    "unhealthy": group.unhealthy,
                    "schedulable": node.schedulable,
                    "reason": node.not_schedulable_reason,
                    "kubelet": node.kubelet_version,
                }
            )
    return rows
