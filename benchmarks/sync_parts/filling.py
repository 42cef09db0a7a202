"""Creating the big cluster in a real API server, from several processes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import msgspec

from benchmarks import big_cluster
from benchmarks.big_cluster import Json
from benchmarks.big_pod_objects import pod
from benchmarks.big_pods import plans
from tests.cluster.client import Access, ApiError, Client

WRITERS = 6


def fill_cluster(
    access: Access, admin: Client, pods: int, nodes: int, say: Callable[[str], None]
) -> None:
    """Create everything, pods last. ``say`` hears what is done. Raises ``ApiError``."""
    for key, items in big_cluster.resources(pods, nodes).items():
        if key in ("nodes", "pods"):
            continue
        made = list(map(big_cluster.creatable, items))
        for item in made:
            admin.ensure(item)
        say(f"{len(made):,} {key}")
    for kind, count in (("nodes", nodes), ("pods", pods)):
        began = time.monotonic()
        _in_parallel(kind, access, pods, nodes)
        say(f"{count:,} {kind} in {time.monotonic() - began:.0f} s")


def _in_parallel(kind: str, access: Access, pods: int, nodes: int) -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(WRITERS, mp_context=context) as pool:
        work = [(kind, access, pods, nodes, writer) for writer in range(WRITERS)]
        for refusal in pool.map(_write, work):
            if refusal is not None:
                raise ApiError(*refusal)


def _write(work: tuple[str, Access, int, int, int]) -> tuple[int, str, str] | None:
    """One writer's share. A refusal is returned: an ApiError cannot be pickled."""
    kind, access, pods, nodes, writer = work
    with Client(access, timeout_s=300) as client:
        for path, body in _share(kind, pods, nodes, writer):
            for attempt in range(10):
                status, data = client.send("POST", path, body)
                if status != 429:
                    break
                time.sleep(1 + attempt)
            if status >= 400 and status != 409:  # 409: it is there already
                return status, data[:500].decode("utf-8", "replace"), f"POST {path}"
    return None


def _share(kind: str, pods: int, nodes: int, writer: int) -> Iterator[tuple[str, bytes]]:
    items: Iterable[Json]
    if kind == "nodes":
        items = islice(big_cluster.nodes(nodes), writer, None, WRITERS)
    else:
        items = map(pod, islice(plans(pods, nodes), writer, None, WRITERS))
    for item in items:
        space = item["metadata"].get("namespace")
        path = f"/api/v1/namespaces/{space}/pods" if space else "/api/v1/nodes"
        yield path, msgspec.json.encode(big_cluster.creatable(item))
