"""Real cluster objects from public reports: each of them imports, by service and by page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from fleet.kubernetes.dump import Source
from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster

CASES = sorted(Path(__file__).parents[2].glob("data/cases/[0-9]*.json"))


def test_every_case_becomes_a_snapshot(team: Team, ada: User) -> None:
    assert len(CASES) == 78
    for case in CASES:
        cluster = clusters.create_from_files(
            team=team,
            name=case.stem[:63].strip("-"),
            sources=[Source(case.name, case.read_bytes())],
            by=ada,
        )
        snapshot = cluster.snapshots.get()
        assert snapshot.is_complete, case.name
        assert snapshot.nodes.count() == snapshot.node_count, case.name
        assert sum(snapshot.verdicts.values()) == len(snapshot.findings) > 0, case.name


def test_cases_import_by_the_page_and_all_their_pages_open(
    team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    for case in CASES[5::8]:
        response = client.post(
            reverse("inventory:cluster-create", args=["files"]),
            {
                "name": case.stem[:63].strip("-"),
                "files": [SimpleUploadedFile(case.name, case.read_bytes())],
            },
        )
        assert response.status_code == 302, (case.name, response.content.decode()[:3000])
        cluster = Cluster.objects.latest("pk")
        assert cluster.current_snapshot is not None
        pages = [
            reverse(f"inventory:cluster-{page}", args=[cluster.uuid])
            for page in ("detail", "topology", "running", "readiness", "readiness-csv")
        ]
        pages += [
            reverse("inventory:snapshot-detail", args=[cluster.uuid, 1]),
            *(
                reverse("inventory:node-detail", args=[cluster.uuid, node.name])
                for node in cluster.current_snapshot.nodes.all()
            ),
        ]
        for page in pages:
            assert client.get(page).status_code == 200, (case.name, page)
    for name in ("overview", "node-list", "node-csv", "readiness", "readiness-csv"):
        assert client.get(reverse(f"inventory:{name}")).status_code == 200
