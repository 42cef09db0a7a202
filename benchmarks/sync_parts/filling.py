"""Creating the big cluster in a real API server, from several processes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice

import msgspec

from benchmarks import big_cluster
from benchmarks.big_cluster import Json
from benchmarks.big_pod_objects import pod
from benchmarks.big_pods import plans
from tests.cluster.client import Access, ApiError, Client

WRITERS = 6


Body = tuple[str, bytes]
"""The path of a list, and one object to create there."""


def fill_cluster(
    access: Access, admin: Client, pods: int, nodes: int, say: Callable[[str], None]
) -> None:
    """Create everything, pods last. ``say`` hears what is done. Raises ``ApiError``."""
    for key, items in big_cluster.resources(pods, nodes).items():
        if key in ("nodes", "pods"):
            continue
        made = list(map(big_cluster.creatable, items))
        bodies = [(admin.path(item, named=False), msgspec.json.encode(item)) for item in made]
        began = time.monotonic()
        _in_parallel([(access, bodies[writer::WRITERS]) for writer in range(WRITERS)])
        say(f"{len(made):,} {key} in {time.monotonic() - began:.0f} s")
    for kind, count in (("nodes", nodes), ("pods", pods)):
        began = time.monotonic()
        shares = [_Share(kind, pods, nodes, writer) for writer in range(WRITERS)]
        _in_parallel([(access, share) for share in shares])
        say(f"{count:,} {kind} in {time.monotonic() - began:.0f} s")


@dataclass(frozen=True, slots=True)
class _Share:
    """One writer's nodes or pods, made only when they are sent."""

    kind: str
    pods: int
    nodes: int
    writer: int

    def __iter__(self) -> Iterator[Body]:
        items: Iterable[Json]
        if self.kind == "nodes":
            items = islice(big_cluster.nodes(self.nodes), self.writer, None, WRITERS)
        else:
            ours = islice(plans(self.pods, self.nodes), self.writer, None, WRITERS)
            items = map(pod, ours)
        for item in items:
            space = item["metadata"].get("namespace")
            path = f"/api/v1/namespaces/{space}/pods" if space else "/api/v1/nodes"
            yield path, msgspec.json.encode(big_cluster.creatable(item))


def _in_parallel(work: Sequence[tuple[Access, Iterable[Body]]]) -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(WRITERS, mp_context=context) as pool:
        for refusal in pool.map(_write, work):
            if refusal is not None:
                raise ApiError(*refusal)


def _write(work: tuple[Access, Iterable[Body]]) -> tuple[int, str, str] | None:
    """One writer's share. A refusal is returned: an ApiError cannot be pickled."""
    access, bodies = work
    with Client(access, timeout_s=300) as client:
        for path, body in bodies:
            for attempt in range(10):
                status, data = client.send("POST", path, body)
                if status != 429:
                    break
                time.sleep(1 + attempt)
            if status >= 400 and status != 409:  # 409: it is there already
                return status, data[:500].decode("utf-8", "replace"), f"POST {path}"
    return None
