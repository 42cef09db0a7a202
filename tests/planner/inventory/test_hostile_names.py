"""Names from clusters are hostile: shown literally on every page, in every file, or cut."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node, pod

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7|add:7 }}{% debug %}",
    '" hx-get="/clusters/" hx-trigger="load',
    "javascript:alert(1)",
    "../../etc/passwd",
    "a/b?c=d#e",
    "line\nbreak",
    "\u202eright-to-left",
    '=HYPERLINK("http://evil")',
    "＝1+1",
    "%00%0d%0aSet-Cookie: x=1",
    "x" * 10_000,
)
JSON_BLOCK = re.compile(r'<script id="[a-z-]+" type="application/json">.*?</script>', re.DOTALL)


def addresses(cluster: Cluster) -> Iterator[str]:
    for page in ("overview", "cluster-list", "cluster-csv", "node-list", "node-csv", "readiness"):
        yield reverse(f"inventory:{page}")
    for page in (
        "detail",
        "topology",
        "topology-csv",
        "running",
        "running-csv",
        "readiness",
        "readiness-csv",
    ):
        yield reverse(f"inventory:cluster-{page}", args=[cluster.uuid])
    yield reverse("inventory:snapshot-list", args=[cluster.uuid])
    yield reverse("inventory:snapshot-detail", args=[cluster.uuid, 1])
    assert cluster.current_snapshot is not None
    for row in cluster.current_snapshot.nodes.all():
        yield reverse("inventory:node-detail", args=[cluster.uuid, row.name])
    yield reverse("inventory:cluster-running", args=[cluster.uuid]) + "?namespace=x&owner=<b>"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_literally(
    name: str, team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    labels = {
        "topology.kubernetes.io/zone": name,
        "cloud.google.com/gke-nodepool": name,
        "node.kubernetes.io/instance-type": name,
    }
    hostile = node(name, model=name, **labels)
    hostile["spec"]["taints"] = [{"key": name, "value": name, "effect": "NoSchedule"}]
    source = dump(hostile, pod(name, name, namespace=name), name=f"{name}.json")
    cluster = clusters.create_from_files(team=team, name="prod", sources=[source], by=ada)
    client = client_for(ada)
    literal = html.escape(name[:60])
    found = 0
    for address in addresses(cluster):
        response = client.get(address)
        assert response.status_code == 200, address
        text = response.content.decode()
        if response["Content-Type"].startswith("text/csv"):
            rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
            assert len({len(row) for row in rows}) == 1
            assert not any(cell[:1] in "=+@＝" and cell for row in rows[1:] for cell in row)
            assert "prod" not in response["Content-Disposition"]
            continue
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        text = JSON_BLOCK.sub("", text)  # data of a chart: no markup, quotes may stand as they are
        assert 'hx-get="/clusters/"' not in text
        assert "onmouseover='" not in text
        assert 'href="javascript:' not in text
        found += literal in text
    assert found >= (3 if len(name) < 100 else 1)


def test_a_hostile_node_can_be_found_by_search(
    team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    clusters.create_from_files(
        team=team, name="prod", sources=[dump(node(HOSTILE[0]), node("100%_sure"))], by=ada
    )
    client = client_for(ada)
    text = client.get(reverse("frame:search") + "?q=<script>").content.decode()
    assert html.escape(HOSTILE[0]) in text
    assert HOSTILE[0] not in text
    text = client.get(reverse("frame:search") + "?q=%25_").content.decode()
    assert "100%_sure" in text
    assert html.escape(HOSTILE[0]) not in text
