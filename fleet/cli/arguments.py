"""The arguments of ``gpu-fleet`` and their help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from fleet.kubernetes.topology import LEVEL_NAME, RESERVED_NAMES
from fleet.words import say


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of one call. Fields that a command lacks keep their defaults."""

    command: str
    files: tuple[str, ...] = ()
    clusters: tuple[tuple[str, str], ...] = ()  # (name, file or folder)
    workloads: str = ""
    form: str = "table"  # "table", "json", "csv"
    today: date | None = None
    cards: tuple[str, ...] = ()
    explain: bool = False
    all_shapes: bool = False
    name: str = "plan"
    seconds: float = 20.0
    seed: int = 0
    verbose: bool = False
    levels: tuple[tuple[str, str], ...] = ()  # (name, label key), coarse to fine; (): proposed


def parse(argv: Sequence[str] | None) -> Options:
    """Read the arguments. Leaves by ``SystemExit`` (2, or 0 for --help and --version)."""
    found = vars(_parser().parse_args(argv))
    form = "json" if found.pop("json", False) else "csv" if found.pop("csv", False) else "table"
    found.pop("csv", None)
    found["form"] = form
    for name in ("files", "clusters", "cards"):
        if name in found:
            found[name] = tuple(found[name] or ())
    return Options(**found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpu-fleet",
        description=say("Inventory, sizing, placement and readiness of GPU fleets on Kubernetes."),
        epilog=say(
            "Exit code 0: all well. 3: something could not be placed, or a check failed. "
            "2: bad input."
        ),
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        dest=argparse.SUPPRESS,
        help=say("show the version and leave"),
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    inventory = commands.add_parser("inventory", help=say("the GPUs of a cluster: all, used, free"))
    _add_clusters(inventory)
    _add_form(inventory)
    size = commands.add_parser(
        "size", help=say("what each workload needs: GPU models and how many")
    )
    _add_workloads(size)
    size.add_argument(
        "--card",
        dest="cards",
        action="append",
        metavar="MODEL",
        help=say("judge this GPU model only; repeatable"),
    )
    size.add_argument(
        "--all",
        dest="all_shapes",
        action="store_true",
        help=say("every shape, not only the few best: every card, every number of GPUs, MIG"),
    )
    size.add_argument(
        "--explain",
        "--arithmetic",
        dest="explain",
        action="store_true",
        help=say("the arithmetic of the first shape (with --all: of every shape)"),
    )
    _add_form(size)
    plan = commands.add_parser(
        "plan", help=say("place workloads on clusters, with cost and reasons")
    )
    _add_workloads(plan)
    _add_clusters(plan)
    plan.add_argument("--name", default="plan", help=say("name of the plan in the report"))
    plan.add_argument(
        "--seconds", type=_seconds, default=20.0, help=say("time for the search (default 20)")
    )
    plan.add_argument("--seed", type=int, default=0, help=say("same input and seed, same answer"))
    _add_form(plan)
    check = commands.add_parser("check", help=say("is the cluster ready? The five questions"))
    _add_clusters(check)
    check.add_argument(
        "--workloads",
        default="",
        metavar="WORKLOADS",
        help=say("workload file, to hold load times against probes"),
    )
    check.add_argument(
        "--today",
        type=_day,
        default=datetime.now(UTC).date(),
        metavar="YYYY-MM-DD",
        help=say("the date for support periods"),
    )
    check.add_argument(
        "--verbose", action="store_true", help=say("show passed and not applicable checks in full")
    )
    _add_form(check)
    return parser


def _add_clusters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help=say(
            "what kubectl printed (JSON or YAML, also .gz), or a folder of such files; - is "
            "standard input. All FILEs together are one cluster"
        ),
    )
    parser.add_argument(
        "--cluster",
        dest="clusters",
        action="append",
        type=_named,
        metavar="NAME=FILE",
        help=say(
            "a named cluster; repeat it for several clusters, or with the same NAME for several "
            "files"
        ),
    )
    parser.add_argument(
        "--levels",
        type=_levels,
        default=(),
        metavar="NAME=KEY,…",
        help=say(
            "levels of topology as label keys, coarse to fine (block=example.com/row,rack=…); "
            "without it they are proposed from the nodes"
        ),
    )


def _add_workloads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "workloads",
        metavar="WORKLOADS",
        help=say("workload file, YAML or JSON; - is standard input"),
    )


def _add_form(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=say("JSON for programs"))
    form.add_argument(
        "--csv", action="store_true", help=say("CSV for spreadsheets (UTF-8 with BOM)")
    )


def _named(text: str) -> tuple[str, str]:
    name, found, path = text.partition("=")
    if not (name and found and path):
        raise argparse.ArgumentTypeError(say("expected NAME=FILE"))
    return name, path


def _levels(text: str) -> tuple[tuple[str, str], ...]:
    pairs = tuple(_level(part) for part in text.split(",") if part)
    if not pairs or len({key for _, key in pairs}) < len(pairs):
        raise argparse.ArgumentTypeError(say("expected NAME=KEY, each label key once"))
    return pairs


def _level(text: str) -> tuple[str, str]:
    name, found, key = text.partition("=")
    if not (found and key and re.fullmatch(LEVEL_NAME, name)):
        raise argparse.ArgumentTypeError(
            say("expected NAME=KEY; a name has lower-case letters, digits and hyphens")
        )
    if name in RESERVED_NAMES:
        raise argparse.ArgumentTypeError(say("{name} has a meaning of its own", name=name))
    return name, key


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(say("expected a date as 2026-12-01")) from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(say("expected a number of seconds")) from None
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(say("expected more than 0 and at most 3600 seconds"))
    return seconds


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that loads the parser of package metadata."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("gpu-fleet-planner")
        except PackageNotFoundError:
            found = say("(not installed)")
        print(f"gpu-fleet {found}")
        parser.exit()
