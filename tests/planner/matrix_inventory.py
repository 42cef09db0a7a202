"""Who gets what at the URLs of the inventory."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node
from tests.planner.matrix import (
    ADMIN_ACTS,
    LIST,
    MARKER,
    PLANNER_ACTS,
    PLANNER_OPENS,
    READ,
    Entry,
    Row,
    World,
)

NODE = f"node-{MARKER}"


def objects(team: Team, admin: User) -> dict[str, Any]:
    cluster = clusters.create_from_files(
        team=team, name=f"file-{MARKER}", sources=[dump(node(NODE))], by=admin
    )
    live = Cluster.objects.create(
        team=team, name=f"live-{MARKER}", source=Cluster.Source.FIELDS, server="https://10.0.0.1"
    )
    return {"inventory_cluster": cluster, "inventory_live": live}


def _cluster(world: World) -> list[Any]:
    return [world["inventory_cluster"].uuid]


def _live(world: World) -> list[Any]:
    return [world["inventory_live"].uuid]


def _upload() -> SimpleUploadedFile:
    return SimpleUploadedFile("nodes.json", dump(node("n1")).data)


OPENS = Row(302, 200, 403, 403, 200)  # admins of any team add clusters to their own
ADMIN_PAGE = Row(302, 404, 403, 403, 200)

ENTRIES = {
    "inventory:overview": Entry(get=LIST),
    "inventory:demo-load": Entry(post=Row(302, 302, 403, 403, 302)),
    "inventory:cluster-list": Entry(get=LIST),
    "inventory:cluster-csv": Entry(get=LIST),
    "inventory:cluster-add": Entry(get=OPENS),
    "inventory:cluster-create": Entry(
        post=Row(302, 302, 403, 403, 302),
        args=lambda w: ["files"],
        data=lambda w: {"name": "another", "files": _upload()},
    ),
    "inventory:cluster-detail": Entry(get=READ, args=_cluster),
    "inventory:cluster-topology": Entry(get=READ, args=_cluster),
    "inventory:cluster-topology-csv": Entry(get=READ, args=_cluster),
    "inventory:cluster-slots-csv": Entry(get=READ, args=_cluster),
    "inventory:cluster-levels": Entry(
        get=ADMIN_PAGE,
        post=ADMIN_ACTS,
        args=_cluster,
        data=lambda w: {"do": "reset", "version": 1, "level-TOTAL_FORMS": 0},
    ),
    "inventory:cluster-running": Entry(get=READ, args=_cluster),
    "inventory:cluster-running-csv": Entry(get=READ, args=_cluster),
    "inventory:cluster-waiting-csv": Entry(get=READ, args=_cluster),
    "inventory:snapshot-list": Entry(get=READ, args=_cluster),
    "inventory:snapshot-detail": Entry(get=READ, args=lambda w: [*_cluster(w), 1]),
    "inventory:cluster-readiness": Entry(get=READ, args=_cluster),
    "inventory:cluster-readiness-csv": Entry(get=READ, args=_cluster),
    "inventory:cluster-edit": Entry(
        get=ADMIN_PAGE,
        post=ADMIN_ACTS,
        args=_cluster,
        data=lambda w: {"name": "renamed", "version": 1},
    ),
    "inventory:cluster-delete": Entry(get=ADMIN_PAGE, post=ADMIN_ACTS, args=_cluster),
    "inventory:cluster-sync": Entry(post=PLANNER_ACTS, args=_live),
    "inventory:cluster-import": Entry(
        get=PLANNER_OPENS, post=PLANNER_ACTS, args=_cluster, data=lambda w: {"files": _upload()}
    ),
    "inventory:cluster-test": Entry(post=ADMIN_PAGE, args=_live),
    "inventory:node-detail": Entry(get=READ, args=lambda w: [*_cluster(w), NODE]),
    "inventory:node-list": Entry(get=LIST),
    "inventory:node-csv": Entry(get=LIST),
    "inventory:readiness": Entry(get=LIST),
    "inventory:readiness-csv": Entry(get=LIST),
}
