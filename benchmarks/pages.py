"""How long the server needs for its pages, with a cluster of 5,000 nodes and one of 50.

    python -m benchmarks.pages [--nodes 5000] [--pods 150000] [--requests 30]
                               [--data DIR] [--database postgresql://…]

Both clusters are synthetic (``benchmarks.big_cluster``) and come in by the product's own import,
each into a team of its own. Pages are asked for by Django's test client, through all of the
middleware, logged in and warm; what is counted is the time in this process, of it the time on a
processor (which tells a slow page from a busy machine; with PostgreSQL without its share), the
number of statements and the size of the answer. ``--data`` keeps the database and uses it again.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

GOAL_MS = 200
SLOW_MS = 1000
SMALL_NODES = 50
PODS_A_NODE = 30


@dataclass(frozen=True, slots=True)
class Page:
    """One address to ask for."""

    name: str
    address: str
    fragment: bool = False  # asked for by htmx


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of all requests, by the clock and on a processor, those of the first one apart;
    statements and bytes of the last one."""

    times: list[float]
    busy: list[float]
    first: float  # on a processor
    statements: int
    size: int

    @property
    def median(self) -> float:
        return sorted(self.times)[len(self.times) // 2]

    @property
    def p95(self) -> float:
        return _p95(self.times)

    @property
    def busy_p95(self) -> float:
        return _p95(self.busy)


def _p95(times: list[float]) -> float:
    return quantiles(times, n=20, method="inclusive")[-1]


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        _set_up(options.data or folder, options.database)
        sizes = {"small": SMALL_NODES, "big": options.nodes}
        fleets = {name: _Fleet(name, nodes, options) for name, nodes in sizes.items()}
        measured = {name: fleet.measured(options) for name, fleet in fleets.items()}
        derived = fleets["big"].derived() if not options.only else {}
    print("\n".join(_report(measured["big"], measured["small"], options)))
    for what, seconds in derived.items():
        print(f"Derived once for a snapshot and process: {what}, {seconds:.1f} s on a processor.")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--requests", type=int, default=30, help="per page, after two warm ones")
    parser.add_argument("--data", help="folder of a SQLite database to keep and use again")
    parser.add_argument("--database", default="", help="address of a PostgreSQL database")
    parser.add_argument("--only", default="", help="only pages whose name holds this word")
    return parser.parse_args()


def _set_up(folder: str, database: str) -> None:
    os.environ["PLANNER_DATA_DIR"] = folder
    os.environ.setdefault("PLANNER_LOG_LEVEL", "ERROR")
    os.environ["DJANGO_SETTINGS_MODULE"] = "planner.settings"
    if database:
        os.environ["PLANNER_DATABASE_URL"] = database
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


class _Fleet:
    """One team with one cluster, and its pages."""

    def __init__(self, name: str, nodes: int, options: argparse.Namespace) -> None:
        from planner.accounts.models import Membership, Role, Team, User
        from planner.inventory.models import Cluster

        self.name = name
        self.team, _ = Team.objects.get_or_create(slug=name, defaults={"name": name})
        self.user, is_new = User.objects.get_or_create(username=f"bench-{name}")
        if is_new:
            Membership.objects.create(user=self.user, team=self.team, role=Role.ADMIN)
        if not Cluster.objects.filter(team=self.team).exists():
            pods = options.pods if name == "big" else nodes * PODS_A_NODE
            self._import(nodes, pods)
        self.cluster = Cluster.objects.select_related("current_snapshot").get(team=self.team)

    def _import(self, nodes: int, pods: int) -> None:
        from planner.inventory import clusters

        started = time.monotonic()
        sources = list(_sources(nodes, pods))
        clusters.create_from_files(
            team=self.team, name=f"cluster-{self.name}", sources=sources, by=self.user
        )
        print(f"{self.name}: imported in {time.monotonic() - started:.0f} s", file=sys.stderr)

    def measured(self, options: argparse.Namespace) -> dict[str, Measured]:
        from django.test import Client

        client = Client(headers={"host": "localhost"})
        client.force_login(self.user)
        found = {}
        for page in self.pages():
            if options.only in page.name:
                found[page.name] = _ask(client, page, options.requests)
        return found

    def derived(self) -> dict[str, float]:
        """Seconds on a processor for what readers of the readiness pages wait for once."""
        from django.core.cache import cache
        from django.utils.translation import override

        from fleet.workloads import LlmWorkload
        from planner.inventory import declaring, findings, queries

        found = {}
        cluster = queries.clusters_of(self.team, findings=True).get()
        workload = LlmWorkload(name="bench", model="Qwen/Qwen3-8B", namespace="bench")
        for words, language, declared in (
            ("findings with a declared workload", "en", [workload]),
            ("findings in another language", "ja", []),
        ):
            declaring.register(_always(declared))
            cache.clear()
            started = time.thread_time()
            with override(language):
                findings.of_clusters([cluster])
            found[words] = time.thread_time() - started
        return found

    def pages(self) -> list[Page]:
        """What is measured, in the order of the report."""
        from django.urls import reverse

        from planner.inventory.models import NodeRow

        rows = NodeRow.objects.filter(snapshot=self.cluster.current_snapshot_id, is_gpu_node=True)
        nodes, at = reverse("inventory:node-list"), [self.cluster.uuid]
        place = rows.exclude(zone="").values_list("zone", flat=True)[0]
        last = max(1, rows.count() // 50)
        busy = self._busiest()
        owner = self._largest_owner()
        pages = [Page("overview", reverse("inventory:overview"))]
        for name, query in {
            "": "",
            "cluster": f"cluster={self.cluster.name}",
            "model": "model=H100-SXM5-80GB",
            "pool": "pool=h100-serve",
            "all nodes": "kind=all",
            "no GPU": "kind=cpu",
            "at least 2 free": "free=2",
            "domain": f"domain=zone:{place}",
            "search": "text=r00",
            "search without a match": "text=nothing-is-called-this",
        }.items():
            word = f"nodes, {name}" if name else "nodes"
            pages.append(Page(word, f"{nodes}?{query}"))
        for state in ("free", "full", "requested", "stranded", "withheld", "not-schedulable",
                      "unhealthy", "unknown", "problems"):  # fmt: skip
            pages.append(Page(f"nodes, state {state}", f"{nodes}?state={state}"))
        for column in ("name", "cluster", "gpu_model", "pool", "state", "physical", "allocatable",
                       "requested", "-free", "stranded"):  # fmt: skip
            pages.append(Page(f"nodes, sorted by {column}", f"{nodes}?sort={column}"))
        filtered = f"{nodes}?model=H100-SXM5-80GB&state=free&sort=-free"
        pages += [
            Page("nodes, filter and sort", filtered),
            Page("nodes, filter and sort, fragment", filtered, fragment=True),
            Page("nodes, last page", f"{nodes}?page={last}"),
            Page("nodes, all, last page", f"{nodes}?kind=all&sort=-free&page={last}"),
            Page("node", reverse("inventory:node-detail", args=[*at, busy])),
            Page("clusters", reverse("inventory:cluster-list")),
        ]
        for name in ("detail", "topology", "running", "readiness", "edit", "delete"):
            pages.append(Page(f"cluster, {name}", reverse(f"inventory:cluster-{name}", args=at)))
        pages += [
            Page(
                "cluster, pods of an owner", reverse("inventory:cluster-running", args=at) + owner
            ),
            Page("cluster, snapshots", reverse("inventory:snapshot-list", args=at)),
            Page("snapshot report", reverse("inventory:snapshot-detail", args=[*at, 1])),
            Page("readiness", reverse("inventory:readiness")),
            Page("search", reverse("frame:search") + "?q=r00"),
            Page("search without a match", reverse("frame:search") + "?q=nothing-like-it"),
            Page("plan form", reverse("plans:plan-create")),
            Page("plans", reverse("plans:plan-list")),
            Page("workload form", reverse("plans:workload-create", args=["llm"])),
            Page("workloads", reverse("plans:workload-list")),
            Page("prices", reverse("plans:price-list")),
            Page("nodes, CSV", reverse("inventory:node-csv")),
            Page("clusters, CSV", reverse("inventory:cluster-csv")),
            Page("running, CSV", reverse("inventory:cluster-running-csv", args=at)),
            Page("topology, CSV", reverse("inventory:cluster-topology-csv", args=at)),
            Page("readiness, CSV", reverse("inventory:readiness-csv")),
        ]
        return pages

    def _busiest(self) -> str:
        """The GPU node with the most pods."""
        from django.db.models import Count

        from planner.inventory.models import PodRow

        pods = PodRow.objects.filter(snapshot=self.cluster.current_snapshot_id)
        counted = pods.exclude(node_name="").values("node_name").annotate(pods=Count("pk"))
        return str(counted.order_by("-pods", "node_name")[0]["node_name"])

    def _largest_owner(self) -> str:
        """The address of the owner with the most pods that ask for a GPU."""
        from urllib.parse import urlencode

        from django.db.models import Count

        from planner.inventory.models import PodRow

        pods = PodRow.objects.filter(snapshot=self.cluster.current_snapshot_id, gpu_units__gt=0)
        counted = pods.values("namespace", "owner").annotate(pods=Count("pk"))
        first = counted.order_by("-pods", "namespace", "owner")[0]
        return "?" + urlencode({"namespace": first["namespace"], "owner": first["owner"]})


def _always(declared: list[Any]) -> Callable[[Any], list[Any]]:
    return lambda team: declared


def _sources(nodes: int, pods: int) -> Iterator[Any]:
    """The cluster as files, one a page of its lists."""
    from benchmarks import big_cluster
    from fleet.kubernetes.dump import Source

    for key, items in big_cluster.resources(pods, nodes).items():
        for number, body in enumerate(big_cluster.list_pages(items, 2_000)):
            yield Source(f"{key}-{number:04d}.json", body)


class _Counter:
    """Counts statements without keeping them."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, execute: Callable[..., Any], *args: Any) -> Any:
        self.number += 1
        return execute(*args)


def _ask(client: Any, page: Page, requests: int) -> Measured:
    from django.db import connection

    headers = {"HX-Request": "true"} if page.fragment else {}
    times: list[float] = []
    busy: list[float] = []
    size, first, counter = 0, 0.0, _Counter()
    for number in range(requests + 2):
        counter = _Counter()
        with connection.execute_wrapper(counter):
            started, worked = time.perf_counter(), time.thread_time()
            answer = client.get(page.address, headers=headers)
            content = answer.content
            elapsed, work = time.perf_counter() - started, time.thread_time() - worked
        if answer.status_code != 200:
            raise SystemExit(f"{page.name}: {page.address} answered {answer.status_code}")
        size = len(content)
        if number == 0:
            first = work * 1000
        if number >= 2:  # the first two fill caches: templates, figures of the snapshot
            times.append(elapsed * 1000)
            busy.append(work * 1000)
    return Measured(times, busy, first, counter.number, size)


def _report(
    big: dict[str, Measured], small: dict[str, Measured], options: argparse.Namespace
) -> Iterator[str]:
    load = os.getloadavg()[1]
    yield (
        f"{_processor()}, {os.cpu_count()} CPUs, Python {platform.python_version()}; "
        f"load average {load:.1f} (above 1: something else ran beside it)"
    )
    yield f"{options.nodes} nodes and {options.pods} pods, beside {SMALL_NODES} nodes"
    yield ""
    yield (
        "| page | p50 ms | p95 ms | max ms | p95 CPU ms | KiB | statements "
        "| 50 nodes: p95 CPU ms | KiB | statements |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, one in big.items():
        other = small[name]
        yield (
            f"| {name} | {one.median:.0f} | {one.p95:.0f} | {max(one.times):.0f} "
            f"| {one.busy_p95:.0f} | {one.size / 1024:.0f} | {one.statements} "
            f"| {other.busy_p95:.0f} | {other.size / 1024:.0f} | {other.statements} |"
        )
    yield ""
    yield from _verdict(big, small)


def _verdict(big: dict[str, Measured], small: dict[str, Measured]) -> Iterator[str]:
    grown = [name for name in big if big[name].statements > small[name].statements]
    yield f"More statements than with {SMALL_NODES} nodes: {', '.join(grown) or 'no page'}."
    for word, figure in (("by the clock", "p95"), ("on a processor", "busy_p95")):
        late, slow = [], []
        for name, one in big.items():
            if _has_goal(name) and getattr(one, figure) > GOAL_MS:
                late.append(name)
            elif getattr(one, figure) > SLOW_MS:
                slow.append(name)
        yield f"Above {GOAL_MS} ms at p95 {word}, where that is the goal: {_names(late)}."
        yield f"Others above {SLOW_MS} ms at p95 {word}: {_names(slow)}."
    first = [f"{name} ({one.first:.0f} ms)" for name, one in big.items() if one.first > SLOW_MS]
    yield f"First request of the process above {SLOW_MS} ms on a processor: {_names(first)}."


def _names(pages: list[str]) -> str:
    return "; ".join(pages) or "no page"


def _has_goal(name: str) -> bool:
    return name in ("overview", "node") or (name.startswith("nodes") and name != "nodes, CSV")


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    sys.exit(main())
