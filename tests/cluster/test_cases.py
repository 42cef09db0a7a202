"""The cases from public reports, created on a real API server and read live.

The server decodes, defaults, validates and converts what we know only as files: the reading must
be the same as that of the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.inventory_report.report import as_report
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read
from tests.cluster.client import ApiError
from tests.cluster.creating import create_whole
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of

CASES = Path(__file__).parents[1] / "data" / "cases"
SLICES = "resourceslices.resource.k8s.io"
NAMES = sorted(path.name for path in CASES.glob("[0-9]*.json"))


# Objects of the cases that no server accepts, and the words it refuses them with.
REFUSED = {
    "58-request-differs-from-limit.json": {
        "bad-gpu": "must be equal to nvidia.com/gpu limit of 3",
        "bad-npu": "must be equal to huawei.com/Ascend910 limit of 8",
    }
}


@pytest.mark.parametrize("name", NAMES)
def test_a_case_reads_the_same_from_a_server_as_from_its_file(
    rich_cluster: Running, name: str
) -> None:
    items: list[dict[str, Any]] = json.loads((CASES / name).read_bytes())["items"]
    admin = rich_cluster.admin
    for refused, words in REFUSED.get(name, {}).items():
        (bad,) = [item for item in items if item["metadata"]["name"] == refused]
        with pytest.raises(ApiError, match=words):
            create_whole(admin, [bad])
        items.remove(bad)
    with rich_cluster.plane.scheduling_paused():
        create_whole(admin, items)
        live = inventory_of(rich_cluster.plane.access(rich_cluster.token))
    # A file is silent about what it does not list; our export writes an empty list instead.
    empty = Source(f"{SLICES}.json", b'{"apiVersion": "v1", "kind": "List", "items": []}')
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    filed = read(load([Source(name, text.encode()), empty]))
    assert live.problems == filed.problems == ()
    assert as_report(live) == as_report(filed)
