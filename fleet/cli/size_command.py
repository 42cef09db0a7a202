"""``gpu-fleet size``: what one replica of each workload needs."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.cli.arguments import Options
from fleet.cli.sources import BadInput, workloads
from fleet.cli.terminal import (
    Column,
    block,
    coloured,
    escaped,
    paragraph,
    table,
    write,
    write_json,
    write_table_csv,
)
from fleet.csv_text import Cell
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Fit, Requirement, Shape
from fleet.sizing.size import size
from fleet.units import duration_text, gib_text
from fleet.words import say, say_many
from fleet.workloads import Workload, kind_name

CSV_COLUMNS = (
    "workload",
    "kind",
    "fit",
    "gpu_model",
    "mig_profile",
    "gpus_per_pod",
    "pods",
    "gpus",
    "parallelism",
    "used_mib_per_gpu",
    "usable_mib_per_gpu",
    "cpu_milli_per_pod",
    "memory_mib_per_pod",
    "max_concurrency",
    "load_seconds_low",
    "load_seconds_high",
    "why",
)

NO_FIT = 3
SHOWN = 6
"""Shapes of a workload in the table, without ``--all``."""


def requirements(
    found: Sequence[Workload], cards: Sequence[str] | None = None
) -> list[tuple[Workload, Requirement]]:
    """Each workload with its sizing. Raises ``BadInput`` naming workload and field."""
    sized = []
    for workload in found:
        try:
            sized.append((workload, size(workload, cards=cards)))
        except SizingError as error:
            raise BadInput(
                say(
                    "workload {workload}, {field}: {message}",
                    workload=workload.name,
                    field=error.field,
                    message=error.message,
                )
            ) from error
    return sized


def run(options: Options) -> int:
    sized = [r for _, r in requirements(workloads(options), options.cards or None)]
    if options.form == "json":
        write_json({"requirements": sized})
    elif options.form == "csv":
        write_table_csv(
            CSV_COLUMNS, [_csv_row(r, s) for r in sized for s in (*r.shapes, *r.refused)]
        )
    else:
        for place, requirement in enumerate(sized):
            write("\n" if place else "")
            _show(requirement, options)
    return 0 if all(r.shapes for r in sized) else NO_FIT


def _smallest(shapes: Sequence[Shape]) -> list[Shape]:
    """The first shape of each card: they come with the fewest GPUs first. Cuts of a card (MIG)
    are left to ``--all``, where the whole card works too."""
    whole = {shape.gpu_model for shape in shapes if shape.mig_profile is None}
    first: dict[tuple[str, bool], Shape] = {}
    for shape in shapes:
        if shape.mig_profile is None or shape.gpu_model not in whole:
            first.setdefault((shape.gpu_model, shape.mig_profile is None), shape)
    return list(first.values())


def _show(requirement: Requirement, options: Options) -> None:
    title = f"{requirement.workload} ({kind_name(requirement.kind)})"
    write(coloured(escaped(title), "bold") + "\n")
    write(paragraph(requirement.sentence, "  "))
    write(paragraph(f"{requirement.confidence[:1].upper()}{requirement.confidence[1:]}.", "  "))
    shown = _shown(requirement, options)
    write("\n" + _table(shown))
    left = len(requirement.shapes) + len(requirement.refused) - len(shown)
    if left:
        more = say_many("{n} more; --all shows it", "{n} more; --all shows them", left)
        write(paragraph(more, "  "))
    if options.explain:
        for shape in shown if options.all_shapes else shown[:1]:
            write("\n" + _arithmetic(shape))
        for assumption in requirement.assumptions:
            write(paragraph(say("Assumed: {assumption}", assumption=assumption), "  "))


def _shown(requirement: Requirement, options: Options) -> Sequence[Shape]:
    """The best few shapes; why cards do not work when none does, or when one was asked about."""
    if options.all_shapes:
        return (*requirement.shapes, *requirement.refused)
    works = _smallest(requirement.shapes)[:SHOWN]
    if options.cards:
        return (*works, *requirement.refused)
    return works or requirement.refused[:SHOWN]


def _table(shapes: Sequence[Shape]) -> str:
    columns = [
        Column(say("FIT")),
        Column(say("CARD")),
        Column(say("GPUS/POD"), right=True),
        Column(say("PODS"), right=True),
        Column(say("PARALLEL")),
        Column(say("MEMORY PER GPU"), right=True),
        Column(say("READY IN"), right=True),
        Column(say("WHY")),
    ]
    rows = [
        [
            shape.fit.value,
            shape.unit,
            str(shape.gpus_per_pod),
            str(shape.pods),
            shape.parallelism,
            say(
                "{used} of {usable}",
                used=gib_text(shape.use.total),
                usable=gib_text(shape.usable_mib),
            ),
            _load(shape),
            "" if shape.fit is Fit.FITS else shape.why,
        ]
        for shape in shapes
    ]
    if not any(row[-1] for row in rows):  # all fit: the room is for the figures
        columns.pop()
        rows = [row[:-1] for row in rows]
    return table(columns, rows)


def _arithmetic(shape: Shape) -> str:
    columns = [
        Column("    " + say("PART")),
        Column(say("GIB"), right=True),
        Column(say("FORMULA")),
    ]
    rows = [
        [
            f"    {line.label}",
            gib_text(line.mib) if line.mib is not None else "",
            line.formula,
        ]
        for line in shape.lines
    ]
    return block(f"{shape.unit} × {shape.gpus}: {shape.why}", "  ") + table(columns, rows)


def _load(shape: Shape) -> str:
    if shape.load_seconds is None:
        return say("unknown")
    low, high = shape.load_seconds
    return f"{duration_text(low)} – {duration_text(high)}"


def _csv_row(requirement: Requirement, shape: Shape) -> dict[str, Cell]:
    low, high = shape.load_seconds or (None, None)
    return {
        "workload": requirement.workload,
        "kind": requirement.kind,
        "fit": shape.fit.value,
        "gpu_model": shape.gpu_model,
        "mig_profile": shape.mig_profile,
        "gpus_per_pod": shape.gpus_per_pod,
        "pods": shape.pods,
        "gpus": shape.gpus,
        "parallelism": shape.parallelism,
        "used_mib_per_gpu": round(shape.use.total),
        "usable_mib_per_gpu": round(shape.usable_mib),
        "cpu_milli_per_pod": shape.cpu_milli,
        "memory_mib_per_pod": shape.memory_mib,
        "max_concurrency": shape.max_concurrency,
        "load_seconds_low": round(low) if low is not None else None,
        "load_seconds_high": round(high) if high is not None else None,
        "why": shape.why,
    }
