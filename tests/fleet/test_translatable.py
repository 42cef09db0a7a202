"""Every sentence that the engine says to people goes through ``say``, so that it can be translated.

Checked on the source text: in the modules listed here no sentence stands outside ``say`` and
``say_many``, apart from what is named below with its reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")

COVERED = (
    "fleet/boards",
    "fleet/catalogue",
    "fleet/cli",
    "fleet/costs.py",
    "fleet/csv_text.py",
    "fleet/demo",
    "fleet/device_names.py",
    "fleet/fits",
    "fleet/inventory_report",
    "fleet/inventory_totals.py",
    "fleet/kubernetes",
    "fleet/placement",
    "fleet/planning.py",
    "fleet/read_words.py",
    "fleet/readiness",
    "fleet/refusals.py",
    "fleet/sizing",
    "fleet/slots.py",
    "fleet/summary.py",
    "fleet/tolerations.py",
    "fleet/units.py",
    "fleet/workload_file.py",
    "fleet/workloads.py",
)
"""Folders (with what lies below them) and patterns of files."""

SAYS = frozenset({"say", "say_many"})
PROGRAMMERS = frozenset({"ValueError", "TypeError", "KeyError", "RuntimeError", "AssertionError"})
"""Errors about misuse: no person at a page or a terminal reads them."""
KEPT = frozenset({"note", "QuantityError"})
"""What these take is kept with the inventory: see ``KEPT_MODULES``."""

KEPT_MODULES = frozenset(
    f"fleet/kubernetes/{name}.py"
    for name in (
        "cloud_labels",
        "device_facts",
        "device_health",
        "devices",
        "devices_amd",
        "devices_intel",
        "devices_nvidia",
        "dra",
        "dra_groups",
        "dra_places",
        "dra_pools",
        "dra_state",
        "dra_taints",
        "dra_unread",
        "dra_use",
        "hami",
        "hypernodes",
        "nvidia_boards",
        "nvidia_model",
        "objects",
        "objects_dra",
        "patterns",
        "pod_state",
        "requests",
        "taints",
        "topology_proposal",
        "versions",
    )
)
"""Facts noted while a cluster is read (where a count comes from, which object was odd). They are
kept with the snapshot in English, because people of several languages read the same snapshot."""

PASTED = ("fleet/readiness/",)
"""Modules where a text that ends with a line is one to paste: YAML or a command."""

NOT_FOR_PEOPLE = frozenset(
    {
        # A report for programs: names of states and reasons.
        ("fleet/inventory_report/fits.py", "BY_CLAIM"),
        ("fleet/inventory_report/fits.py", "BY_ANNOTATION"),
        ("fleet/inventory_report/fits.py", "NO_NODES"),
        ("fleet/inventory_report/fits.py", "REFUSED"),
        ("fleet/inventory_report/pods.py", "state"),
        ("fleet/inventory_report/quotas.py", "_ENFORCED"),
        ("fleet/inventory_report/quotas.py", "_why"),
        ("fleet/kubernetes/documents.py", "_TRAILING"),  # a pattern for the decoder's messages
        ("fleet/kubernetes/rbac.py", "missing_manifest"),
        ("fleet/kubernetes/rbac.py", "read_only_manifest"),  # YAML to apply
        ("fleet/kubernetes/rbac.py", "export_script"),  # shell to run
        ("fleet/refusals.py", "_MESSAGES"),  # patterns for the decoder's messages
        ("fleet/sizing/kv_cache.py", "SOURCE"),  # a section of the documentation
        ("fleet/sizing/load_time.py", "SOURCE"),
        ("fleet/sizing/overhead.py", "SOURCE"),
        ("fleet/sizing/precision.py", "SOURCE"),
        ("fleet/workload_file.py", "json_schema"),  # a document for programs
        *(
            (f"fleet/readiness/{name}.py", "_SOURCE")  # an API, a field, a file: names
            for name in (
                "dra",
                "gang_partial",
                "gang_scheduler",
                "quota_coverage",
                "quota_headroom",
                "quota_keys",
                "rollout_deadline",
            )
        ),
        ("fleet/placement/solver.py", "solve"),  # names of phases, kept with the job
        # Faults of the solver itself: a report for its authors.
        ("fleet/placement/verify.py", "violations"),
        ("fleet/placement/verify.py", "_pod"),
        ("fleet/placement/verify.py", "_replica"),
        ("fleet/placement/verify.py", "_domain"),
    }
)
"""(module, function or constant) with words that are the same in every language."""


def modules() -> list[str]:
    found: set[Path] = set()
    for part in COVERED:
        path = ROOT / part
        found.update(path.rglob("*.py") if path.is_dir() else ROOT.glob(part))
    return sorted(str(path.relative_to(ROOT)) for path in found)


def unsaid(source: str, module: str = "") -> list[str]:
    """Sentences outside of ``say``, as "line: text"."""
    return [
        f"{node.lineno}: {text[:80]}"
        for node, text in _sentences(ast.parse(source), module)
        if SENTENCE.search(text)
    ]


def _sentences(node: ast.AST, module: str) -> Iterator[tuple[ast.expr, str]]:
    """Literals below the node that are not in a place where a sentence may stand."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # docstrings
    if any((module, name) in NOT_FOR_PEOPLE for name in _names(node)):
        return
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in SAYS:  # the values may be said as well, or hold a sentence that is not
            for value in (*node.args[2:], *(keyword.value for keyword in node.keywords)):
                yield from _sentences(value, module)
            return
        if name in PROGRAMMERS | KEPT or _is_log(node.func):
            return
    if module.startswith(PASTED) and _ends_with_a_line(node):
        return
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.Constant):
                yield node, str(part.value)
            else:
                yield from _sentences(part, module)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node, node.value
    for child in ast.iter_child_nodes(node):
        yield from _sentences(child, module)


def _names(node: ast.AST) -> list[str]:
    """What a statement defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _ends_with_a_line(node: ast.AST) -> bool:
    last = node.values[-1] if isinstance(node, ast.JoinedStr) else node
    return isinstance(last, ast.Constant) and str(last.value).endswith("\n")


def _is_log(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id in ("log", "logger", "logging")
    )


@pytest.mark.parametrize("module", modules())
def test_no_sentence_is_said_without_say(module: str) -> None:
    if module in KEPT_MODULES:
        return
    assert unsaid((ROOT / module).read_text(), module) == []


def hidden(source: str) -> list[int]:
    """Lines with a ``say`` inside an f-string: what collects the sentences does not look there."""
    return [
        call.lineno
        for text in ast.walk(ast.parse(source))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SAYS
    ]


def test_every_sentence_can_be_collected() -> None:
    sources = {path: path.read_text() for path in (ROOT / "fleet").rglob("*.py")}
    assert {path: lines for path, text in sources.items() if (lines := hidden(text))} == {}
    assert hidden("f'{say(\"One.\")} {two}'") == [1]


def test_the_lists_name_what_exists() -> None:
    for module in KEPT_MODULES:
        assert unsaid((ROOT / module).read_text()), module
    for module, name in NOT_FOR_PEOPLE:
        text = (ROOT / module).read_text()
        assert name in {n for node in ast.walk(ast.parse(text)) for n in _names(node)}
        assert len(unsaid(text)) > len(unsaid(text, module)), (module, name)


def test_a_snippet_is_not_a_sentence_where_snippets_are() -> None:
    source = 'Finding("kubectl get pods\\n", f"kubectl drain {name}\\n")'
    assert unsaid(source, "fleet/readiness/gpu_taint.py") == []
    assert len(unsaid(source, "fleet/cli/check_command.py")) == 2


@pytest.mark.parametrize(
    "source",
    [
        'raise DumpError(place, "is nested too deeply")',
        'def f(n):\n    return f"{n} pods wait for a node"',
        'LINES = {"a": "the node takes no pods"}',
        'say("{why}", why="the node takes no pods")',
        'write(f"{name}: {len(left)} nodes more")',
    ],
)
def test_a_sentence_outside_of_say_is_found(source: str) -> None:
    assert len(unsaid(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""A module about two things."""',
        'say("{node} has {free} free GPUs", node=name, free=3)',
        'say_many("one GPU node waits", "many GPU nodes wait", 2)',
        'raise ValueError("no such unit here")',
        'log.warning("job %s was taken over", 1)',
        'key = f"{group}/{version}"',
    ],
)
def test_what_needs_no_translation_is_let_be(source: str) -> None:
    assert unsaid(source) == []
