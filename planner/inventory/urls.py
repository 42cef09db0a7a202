from django.urls import path, register_converter

from planner.inventory.views import (
    adding,
    changing,
    clusters,
    fleet,
    nodes,
    readiness,
    topology,
)


class ClusterName:
    """Any name that a cluster may give: slashes and line breaks too, since names are hostile."""

    regex = r"[^\0]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(ClusterName, "clustername")

app_name = "inventory"
urlpatterns = [
    path("", fleet.overview, name="overview"),
    path("demo-fleet/", adding.demo_load, name="demo-load"),
    path("clusters/", clusters.cluster_list, name="cluster-list"),
    path("clusters.csv", clusters.cluster_csv, name="cluster-csv"),
    path("clusters/add/", adding.cluster_add, name="cluster-add"),
    path("clusters/add/<slug:way>/", adding.cluster_create, name="cluster-create"),
    path("clusters/<uuid:uuid>/", clusters.cluster_detail, name="cluster-detail"),
    path("clusters/<uuid:uuid>/topology/", topology.cluster_topology, name="cluster-topology"),
    path("clusters/<uuid:uuid>/levels/", topology.cluster_levels, name="cluster-levels"),
    path("clusters/<uuid:uuid>/slots.csv", topology.cluster_slots_csv, name="cluster-slots-csv"),
    path("clusters/<uuid:uuid>/running/", clusters.cluster_running, name="cluster-running"),
    path(
        "clusters/<uuid:uuid>/topology.csv",
        topology.cluster_topology_csv,
        name="cluster-topology-csv",
    ),
    path(
        "clusters/<uuid:uuid>/running.csv",
        clusters.cluster_running_csv,
        name="cluster-running-csv",
    ),
    path(
        "clusters/<uuid:uuid>/waiting.csv",
        clusters.cluster_waiting_csv,
        name="cluster-waiting-csv",
    ),
    path("clusters/<uuid:uuid>/snapshots/", clusters.snapshot_list, name="snapshot-list"),
    path(
        "clusters/<uuid:uuid>/snapshots/<int:number>/",
        clusters.snapshot_detail,
        name="snapshot-detail",
    ),
    path("clusters/<uuid:uuid>/readiness/", readiness.cluster_readiness, name="cluster-readiness"),
    path(
        "clusters/<uuid:uuid>/readiness.csv",
        readiness.cluster_readiness_csv,
        name="cluster-readiness-csv",
    ),
    path("clusters/<uuid:uuid>/edit/", changing.cluster_edit, name="cluster-edit"),
    path("clusters/<uuid:uuid>/delete/", changing.cluster_delete, name="cluster-delete"),
    path("clusters/<uuid:uuid>/sync/", changing.cluster_sync, name="cluster-sync"),
    path("clusters/<uuid:uuid>/import/", changing.cluster_import, name="cluster-import"),
    path("clusters/<uuid:uuid>/test/", changing.cluster_test, name="cluster-test"),
    path("clusters/<uuid:uuid>/nodes/<clustername:name>", nodes.node_detail, name="node-detail"),
    path("nodes/", nodes.node_list, name="node-list"),
    path("nodes.csv", nodes.node_csv, name="node-csv"),
    path("readiness/", readiness.readiness_matrix, name="readiness"),
    path("readiness.csv", readiness.readiness_csv, name="readiness-csv"),
]
