"""Adding, importing, editing, deleting clusters: all or nothing, and on the record."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import override_settings

from fleet.kubernetes.dump import Source
from fleet.kubernetes.kubeconfig import ClusterAccess
from planner.accounts.models import AuditEvent, Team, User
from planner.inventory import clusters, demo, secrets
from planner.inventory.clusters import ClusterRefused, EditConflict
from planner.inventory.models import Cluster, ClusterCredential, NodeRow, Snapshot
from planner.jobs.models import Job
from tests.planner.inventory.builders import dump, node, pod

ACCESS = ClusterAccess(server="https://10.0.0.1:6443", token="tok-en")


def live(team: Team, by: User | None, name: str = "prod") -> Cluster:
    cluster, _job = clusters.create_live(
        team=team, name=name, source=Cluster.Source.FIELDS, access=ACCESS, by=by
    )
    return cluster


def test_files_become_a_cluster_with_one_visible_snapshot(team: Team, ada: User) -> None:
    sources = [dump(node("a"), name="nodes.json"), dump(pod("p", "a"), name="pods.json")]
    cluster = clusters.create_from_files(team=team, name="prod", sources=sources, by=ada)
    cluster.refresh_from_db()
    snapshot = cluster.current_snapshot
    assert snapshot is not None
    assert (snapshot.number, snapshot.is_complete, snapshot.node_count) == (1, True, 1)
    assert snapshot.files == ["nodes.json", "pods.json"]
    assert (snapshot.physical_gpus, snapshot.requested_gpus, snapshot.free_gpus) == (8, 1, 7)
    row = snapshot.nodes.get()
    assert (row.gpu_model, row.squares) == ("H100-SXM5-80GB", "r" + "f" * 7)
    assert snapshot.inventory().nodes[0].name == "a"
    event = AuditEvent.objects.get(action="cluster.created")
    assert (event.actor, event.object_name) == (ada, "prod")


def test_a_broken_file_names_its_place_and_leaves_nothing(team: Team, ada: User) -> None:
    sources = [dump(node("a")), Source("pods.json", b'{"kind": "List", "items": [')]
    with pytest.raises(ClusterRefused, match=r"pods\.json"):
        clusters.create_from_files(team=team, name="prod", sources=sources, by=ada)
    assert not Cluster.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_name_is_taken_once_in_a_team_and_free_in_another(
    team: Team, other_team: Team, ada: User
) -> None:
    for owner in (team, other_team):
        clusters.create_from_files(team=owner, name="prod", sources=[dump(node("a"))], by=ada)
    with pytest.raises(ClusterRefused, match="prod already"):
        clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    assert Snapshot.objects.count() == 2


def test_newer_files_become_the_next_snapshot_and_the_old_one_stays(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    clusters.import_files(cluster=cluster, sources=[dump(node("a"), node("b"))], by=ada)
    cluster.refresh_from_db()
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.node_count == 2
    assert [s.number for s in cluster.snapshots.all()] == [2, 1]


def test_a_failed_import_leaves_the_old_snapshot(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    with pytest.raises(ClusterRefused):
        clusters.import_files(cluster=cluster, sources=[Source("x", b"\x00\x01")], by=ada)
    cluster.refresh_from_db()
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.number == 1
    assert NodeRow.objects.count() == 1


def test_files_do_not_go_into_a_live_cluster(team: Team, ada: User) -> None:
    with pytest.raises(ClusterRefused, match="live"):
        clusters.import_files(cluster=live(team, ada), sources=[dump(node("a"))], by=ada)


def test_a_live_cluster_is_sealed_scheduled_and_asked_for(team: Team, ada: User) -> None:
    cluster = live(team, ada)
    cluster.refresh_from_db()
    credential = ClusterCredential.objects.get(cluster=cluster)
    assert b"tok-en" not in bytes(credential.sealed)
    assert secrets.open_sealed(bytes(credential.sealed), cluster.uuid) == ACCESS
    assert cluster.sync_interval_s == settings.PLANNER_SYNC_INTERVAL_S
    assert cluster.next_sync_at is not None
    assert Job.objects.get().subject_id == cluster.pk


@override_settings(PLANNER_CLUSTER_NETWORKS=["192.168.0.0/16"])
def test_an_address_outside_the_networks_is_refused_before_anything_is_stored(
    team: Team, ada: User
) -> None:
    with pytest.raises(ClusterRefused) as refused:
        live(team, ada)
    assert refused.value.field == "address"
    assert not Cluster.objects.exists()
    assert not ClusterCredential.objects.exists()


def test_two_requests_for_a_sync_make_one_job_and_one_event(team: Team, ada: User) -> None:
    cluster = live(team, ada)
    Job.objects.all().delete()
    first = clusters.request_sync(cluster=cluster, by=ada)
    assert clusters.request_sync(cluster=cluster, by=ada) == first
    assert AuditEvent.objects.filter(action="cluster.sync-requested").count() == 1


def test_a_file_cluster_cannot_be_synced(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    with pytest.raises(ClusterRefused, match="files"):
        clusters.request_sync(cluster=cluster, by=ada)


def test_the_second_of_two_editors_hears_of_the_first(team: Team, ada: User) -> None:
    cluster = live(team, ada)
    edit = {"version": 1, "description": "", "sync_interval_s": 300, "by": ada}
    clusters.edit_cluster(cluster=cluster, name="mine", **edit)  # type: ignore[arg-type]
    with pytest.raises(EditConflict) as conflict:
        clusters.edit_cluster(cluster=cluster, name="theirs", **edit)  # type: ignore[arg-type]
    assert conflict.value.current.name == "mine"
    assert Cluster.objects.get().name == "mine"


def test_a_new_credential_ends_the_pause(team: Team, ada: User) -> None:
    cluster = live(team, ada)
    Cluster.objects.update(paused_reason="unauthorized", failures=3)
    clusters.edit_cluster(
        cluster=cluster,
        version=1,
        name="prod",
        description="",
        sync_interval_s=300,
        access=ClusterAccess(server="https://10.0.0.2:6443", token="other"),
        by=ada,
    )
    cluster.refresh_from_db()
    assert (cluster.paused_reason, cluster.failures) == ("", 0)
    assert cluster.server == "https://10.0.0.2:6443"
    sealed = ClusterCredential.objects.get().sealed
    assert secrets.open_sealed(bytes(sealed), cluster.uuid).token == "other"


def test_deleting_takes_credential_and_snapshots_along(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(
        team=team, name="prod", sources=[dump(node("a"), pod("p", "a"))], by=ada
    )
    live(team, ada, "live")
    for each in Cluster.objects.all():
        clusters.delete_cluster(cluster=each, by=ada)
    assert not Cluster.objects.exists()
    assert not ClusterCredential.objects.exists()
    assert not Snapshot.objects.exists()
    assert AuditEvent.objects.filter(action="cluster.deleted", object_id=str(cluster.pk)).exists()


def test_the_demo_fleet_loads_twice_into_the_same_three_clusters(team: Team, ada: User) -> None:
    for _time in range(2):
        demo.load_demo_fleet(team=team, by=ada)
    loaded = Cluster.objects.select_related("current_snapshot")
    assert [c.source for c in loaded] == [Cluster.Source.DEMO] * 3
    assert all(c.current_snapshot and c.current_snapshot.number == 2 for c in loaded)


def test_the_demo_fleet_does_not_write_into_a_cluster_of_the_team(team: Team, ada: User) -> None:
    demo.load_demo_fleet(team=team, by=ada)
    Cluster.objects.filter(name=Cluster.objects.order_by("-pk")[0].name).update(source="file")
    with pytest.raises(ClusterRefused, match="of its own"):
        demo.load_demo_fleet(team=team, by=ada)
    assert Snapshot.objects.count() == 3
