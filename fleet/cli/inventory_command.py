"""``gpu-fleet inventory``: the GPUs of each node, all, schedulable, requested and free."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.cli.arguments import Options
from fleet.cli.sources import inventories
from fleet.cli.terminal import Column, paragraph, table, write, write_json, write_table_csv
from fleet.cli.waiting import waiting_lines
from fleet.csv_text import Cell
from fleet.inventory import DeviceGroup, Inventory, Node, UnitKind, Units
from fleet.inventory_report.report import Report, as_report
from fleet.inventory_totals import free_units
from fleet.model_names import model_words
from fleet.summary import summarise
from fleet.units import gib_text
from fleet.words import say, say_many

CSV_COLUMNS = (
    "cluster",
    "node",
    "pool",
    "instance_type",
    "vendor",
    "model",
    "model_label",
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
            + " ".join(
                (
                    _sizes(inventory, totals),
                    _free(inventory, totals),
                    say("Kubernetes {version}.", version=version),
                )
            )
        )
    )
    rows = []
    for node, group, units in _groups(inventory):
        memory = gib_text(group.memory_mib, 0) if group.memory_mib is not None else say("unknown")
        rows.append(
            [
                node.name,
                model_words(group.model, group.model_label, group.vendor),
                memory,
                _count(group.physical) + ("~" if group.physical_estimated else ""),
                group.sharing,
                *_offered(node, group, units),
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
    _show_waiting(report)
    if inventory.problems:
        write("\n")
        write(paragraph(say_many("{n} odd object:", "{n} odd objects:", len(inventory.problems))))
        for problem in inventory.problems[:10]:
            write(paragraph(f"- {problem}"))
        if len(inventory.problems) > 10:
            write(paragraph(say("- and {n} more", n=len(inventory.problems) - 10)))


def _show_waiting(report: Report) -> None:
    lines = waiting_lines(report)
    if lines:
        write("\n")
        write(paragraph(say("Waiting:")))
        for line in lines:
            write(paragraph(f"- {line}"))


def _sizes(inventory: Inventory, totals: Report) -> str:
    """How many boards there are and how many nodes hide theirs."""
    hidden = totals["uncounted_nodes"]
    some, nodes = totals["gpu_nodes"], len(inventory.nodes)
    if totals["physical_gpus"] is None and not some:
        return say("Nobody says how many GPUs its nodes have.")
    if hidden and hidden == some:
        return say_many(
            "{some} of {n} node has GPUs, nobody says how many.",
            "{some} of {n} nodes have GPUs, nobody says how many.",
            nodes,
            some=some,
        )
    amounts = {
        "gpus": say_many("{n} GPU", "{n} GPUs", totals["physical_gpus"]),
        "places": say_many("{some} of {n} node", "{some} of {n} nodes", nodes, some=some - hidden),
        "requested": _count(totals["requested"]),
    }
    if not hidden:
        return say("{gpus} on {places}, {requested} requested.", **amounts)
    return say_many(
        "{gpus} on {places} and {n} node uncounted, {requested} requested.",
        "{gpus} on {places} and {n} nodes uncounted, {requested} requested.",
        hidden,
        **amounts,
    )


def _free(inventory: Inventory, totals: Report) -> str:
    """Units free by kind, and the boards of which nobody holds a part."""
    summary = summarise({"": inventory}).totals
    if summary.uncounted_nodes and summary.uncounted_nodes == summary.gpu_nodes:
        return say("Free: unknown.")
    whole = totals["free_whole_gpus"]
    if whole is None or totals["physical_gpus"] is None:
        return say("Free: unknown.")
    parts = [say_many("{n} whole GPU", "{n} whole GPUs", whole)]
    for kind, free in free_units(inventory).items():
        if free is not None:
            parts.append(_units_words(kind, free))
    *first, last = parts
    units = say("{list} and {last}", list=", ".join(first), last=last) if first else last
    sentence = say("Free: {units}.", units=units)
    if summary.free != whole or summary.unknown:
        sentence += " " + say_many(
            "{n} GPU is held by nobody, not even in part.",
            "{n} GPUs are held by nobody, not even in part.",
            summary.free,
        )
        if partly := summary.unknown - summary.unread:
            sentence += " " + say_many(
                "{n} GPU is partly used.", "{n} GPUs are partly used.", partly
            )
        if summary.unread:
            sentence += " " + say_many(
                "Of {n} GPU nobody could read who holds it.",
                "Of {n} GPUs nobody could read who holds them.",
                summary.unread,
            )
    return sentence


def _units_words(kind: UnitKind, number: int) -> str:
    if kind is UnitKind.MIG:
        return say_many("{n} MIG device", "{n} MIG devices", number)
    if kind is UnitKind.SHARE:
        return say_many("{n} share of a GPU", "{n} shares of GPUs", number)
    if kind is UnitKind.PARTITION:
        return say_many("{n} partition", "{n} partitions", number)
    if kind is UnitKind.VGPU:
        return say_many("{n} vGPU", "{n} vGPUs", number)
    return say_many("{n} DRA device", "{n} DRA devices", number)


def _offered(node: Node, group: DeviceGroup, units: Units | None) -> tuple[str, str, str, str]:
    """Resource, units, requested and free of one row."""
    if units is not None:
        amounts = (units.allocatable, units.requested, node.free_if_known(units))
        taken, held, left = map(_count, amounts)
        return units.resource, taken, held, left
    if group.unreadable:
        unknown = say("unknown")
        return group.unreadable[0], unknown, unknown, unknown
    return say("none offered"), "0", "0", "0"


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
                    "model_label": group.model_label,
                    "physical_gpus": group.physical,
                    "physical_estimated": group.physical_estimated,
                    "memory_mib_per_gpu": group.memory_mib,
                    "sharing": group.sharing,
                    "resource": units.resource if units is not None else None,
                    "kind": units.kind.value if units is not None else None,
                    "capacity": units.capacity if units is not None else None,
                    "allocatable": units.allocatable if units is not None else None,
                    "requested": units.requested if units is not None else None,
                    "free": node.free_if_known(units) if units is not None else None,
                    "unhealthy": group.unhealthy,
                    "schedulable": node.schedulable,
                    "reason": node.not_schedulable_reason,
                    "kubelet": node.kubelet_version,
                }
            )
    return rows
