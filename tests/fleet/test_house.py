"""The house: ``fleet`` knows no web, and its imports run only down the floors."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLEET = ROOT / "fleet"

FLOORS: tuple[tuple[str, ...], ...] = (
    ("fleet.words",),
    ("fleet", "fleet.units", "fleet.csv_text"),
    # Values of one language, and figures about the world.
    ("fleet.inventory", "fleet.workloads", "fleet.refusals", "fleet.catalogue"),
    # Small rules and values that several rooms above share.
    (
        "fleet.board_registers",
        "fleet.demand",
        "fleet.gang_members",
        "fleet.device_classes",
        "fleet.device_names",
        "fleet.model_names",
        "fleet.tolerations",
        "fleet.read_words",
        "fleet.sizing.requirement",
        "fleet.workload_file",
    ),
    ("fleet.fits", "fleet.other_accelerators"),
    (
        "fleet.attached",
        "fleet.inventory_totals",
        "fleet.kubernetes",
        "fleet.readiness",
        "fleet.sizing",
    ),
    ("fleet.placement", "fleet.boards"),
    ("fleet.slots",),
    ("fleet.costs", "fleet.manifests", "fleet.inventory_report"),
    ("fleet.planning", "fleet.summary", "fleet.demo"),
    ("fleet.cli",),
    ("fleet.__main__",),
)
"""From the ground up. A module belongs to its longest prefix here. It imports from floors below,
and on its own floor from its own room only."""

FORBIDDEN = ("django", "celery", "kombu", "plotly", "planner", "tests")
"""Never imported by ``fleet``."""


@cache
def modules() -> tuple[str, ...]:
    found = []
    for path in sorted(FLEET.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return tuple(found)


def room(module: str) -> tuple[int, str]:
    """(floor, room): the longest prefix in the table."""
    best = (-1, "")
    for floor, rooms in enumerate(FLOORS):
        for name in rooms:
            inside = module == name or (name != "fleet" and module.startswith(f"{name}."))
            if inside and len(name) > len(best[1]):
                best = (floor, name)
    return best


def imports(module: str) -> Iterator[str]:
    """Modules that a module imports anywhere in its text, functions included."""
    path = ROOT / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            source = node.module or ""
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in modules() else source


@pytest.mark.parametrize("module", modules())
def test_module_has_a_floor(module: str) -> None:
    assert room(module)[0] >= 0, f"{module} is not in the table of floors"


@pytest.mark.parametrize("module", modules())
def test_imports_run_only_down_the_floors(module: str) -> None:
    floor, name = room(module)
    for target in imports(module):
        if target == "fleet" or not target.startswith("fleet."):
            continue
        target_floor, target_room = room(target)
        assert target_floor < floor or target_room == name, (
            f"{module} (floor {floor}, {name}) imports {target} "
            f"(floor {target_floor}, {target_room})"
        )


@pytest.mark.parametrize("module", modules())
def test_module_names_no_web_package(module: str) -> None:
    for target in imports(module):
        assert not any(target == f or target.startswith(f"{f}.") for f in FORBIDDEN), target


def test_fresh_interpreter_loads_fleet_without_the_web() -> None:
    names = [m for m in modules() if m != "fleet.__main__"]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"bad = [m for m in sys.modules if m.split('.')[0] in {FORBIDDEN!r}]\n"
        "print(sorted(bad))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_floor_rule_catches_an_upward_import() -> None:
    """The table can say no: a reader that imported the planner of placements would be caught."""
    assert room("fleet.kubernetes.reader")[0] < room("fleet.placement.solver")[0]
    assert room("fleet.sizing.requirement")[0] < room("fleet.readiness.report")[0]
    assert room("fleet.unheard_of")[0] == -1
